package skills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Archives are read as POSIX.1-2001 describes ustar and pax, with the long
// names of GNU tar and its numbers in base 256. They come from anybody: nothing
// in them may reach out of the directory they are unpacked in.

const (
	blockSize   = 512
	maxUnpacked = 128 << 20 // bytes of an archive, unpacked
	maxMembers  = 50000     // files, directories and links of an archive
	maxLinks    = 1000
	maxExtra    = 64 << 10 // bytes of the names and attributes before one member
	maxPath     = 1000     // bytes of a name
	maxRefused  = 10       // refusals that are told one by one
)

var errShort = errors.New("the archive ends in the middle")

// Unpack writes the files, directories and links of a tar stream below dir,
// which is empty. Of files for which whole is false it makes empty ones.
// Members that would reach out of dir, hard links and devices are left out; the
// notices name them, not escaped. The error is about the archive or the disk.
func Unpack(ctx context.Context, dir string, in io.Reader, whole func(name string) bool) (notices []string, err error) {
	limited := &io.LimitedReader{R: in, N: maxUnpacked}
	u := &unpacker{ctx: ctx, dir: dir, in: limited, whole: whole}
	err = u.run()
	if errors.Is(err, errShort) && limited.N <= 0 {
		err = fmt.Errorf("the archive is larger than %d bytes", maxUnpacked)
	}
	if n := u.refused - maxRefused; n > 0 {
		u.notices = append(u.notices, fmt.Sprintf("%d more members of the archive are left out", n))
	}
	return u.notices, err
}

type unpacker struct {
	ctx     context.Context
	dir     string
	in      io.Reader
	whole   func(string) bool
	links   []entry
	notices []string
	refused int
}

// member is the header of one file of the archive.
type member struct {
	name, link string
	kind       byte
	mode       fs.FileMode
	size       int64
}

func (u *unpacker) run() error {
	for n := 0; ; n++ {
		m, err := u.next()
		if err == io.EOF {
			break
		}
		if err == nil && n == maxMembers {
			err = fmt.Errorf("the archive has more than %d members", maxMembers)
		}
		if err == nil {
			err = u.ctx.Err()
		}
		if err != nil {
			return err
		}
		body := &io.LimitedReader{R: u.in, N: m.size}
		err = u.write(m, body)
		if isFatal(err) {
			return err
		}
		if err := skip(u.in, body.N+padding(m.size)); err != nil {
			return err // the archive, and not the member, is at fault
		}
		if err != nil {
			u.refuse(m.name, err)
		}
	}
	if _, err := io.Copy(io.Discard, u.in); err != nil { // a checksum may follow
		return err
	}
	return u.makeLinks()
}

func (u *unpacker) refuse(name string, err error) {
	if u.refused++; u.refused <= maxRefused {
		u.notices = append(u.notices, fmt.Sprintf("%.200s is left out: %v", name, err))
	}
}

// isFatal says that the disk, and not the member, is at fault.
func isFatal(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EACCES} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// write makes one member. There are no links yet that it could go through.
func (u *unpacker) write(m *member, body io.Reader) error {
	name, err := cleanMember(m.name)
	if err != nil || name == "." {
		return err
	}
	path := filepath.Join(u.dir, name)
	switch m.kind {
	case '0', 0, '7':
		if strings.HasSuffix(m.name, "/") {
			return os.MkdirAll(path, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if !u.whole(name) {
			body = strings.NewReader("")
		}
		return writeFile(path, body, m.mode)
	case '5':
		return os.MkdirAll(path, 0o755)
	case '2':
		if len(u.links) == maxLinks {
			return fmt.Errorf("there are more than %d links", maxLinks)
		}
		u.links = append(u.links, entry{name: name, link: m.link})
		return nil
	}
	return errors.New("it is neither file, directory nor symbolic link")
}

// cleanMember is the name of a member as a path below the directory.
func cleanMember(name string) (string, error) {
	switch clean := filepath.Clean(name); {
	case name == "" || strings.IndexByte(name, 0) >= 0:
		return "", errors.New("it has no name")
	case filepath.IsAbs(name) || clean != "." && !filepath.IsLocal(name):
		return "", errors.New("it lies outside of the archive")
	case len(name) > maxPath:
		return "", fmt.Errorf("its name is longer than %d bytes", maxPath)
	default:
		return clean, nil
	}
}

// makeLinks makes the links when all else is written. Their directories come
// first, so none of these is a link; and as a link is written without ".." behind
// a name, it leads where it seems to.
func (u *unpacker) makeLinks() error {
	for _, l := range u.links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(u.dir, l.name)), 0o755); isFatal(err) {
			return err
		}
	}
	for _, l := range u.links {
		to := filepath.Clean(l.link)
		var err error
		if filepath.IsAbs(to) || !filepath.IsLocal(filepath.Join(filepath.Dir(l.name), to)) {
			err = errors.New("the link leads out of the archive")
		} else {
			err = os.Symlink(to, filepath.Join(u.dir, l.name))
		}
		if isFatal(err) {
			return err
		}
		if err != nil {
			u.refuse(l.name, err)
		}
	}
	return nil
}

// next reads the headers of one member, those included that only say more about
// the following one. io.EOF is the end of the archive.
func (u *unpacker) next() (*member, error) {
	var m member
	var longName, longLink, pax string
	for {
		if err := m.header(u.in); err != nil {
			return nil, err
		}
		switch m.kind {
		case 'x', 'g', 'L', 'K':
		default:
			m.name, m.link = orElse(longName, m.name), orElse(longLink, m.link)
			err := m.extend(pax)
			if m.kind >= '1' && m.kind <= '6' {
				m.size = 0 // they have no content, whatever the headers say
			}
			return &m, err
		}
		if m.size > maxExtra {
			return nil, fmt.Errorf("the archive has a name of %d bytes", m.size)
		}
		text := make([]byte, m.size)
		if _, err := io.ReadFull(u.in, text); err != nil {
			return nil, short(err)
		}
		if err := skip(u.in, padding(m.size)); err != nil {
			return nil, err
		}
		switch m.kind {
		case 'x':
			pax = string(text)
		case 'L':
			longName = cString(text)
		case 'K':
			longLink = cString(text)
		}
	}
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// header reads one header block.
func (m *member) header(in io.Reader) error {
	var b [blockSize]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return short(err)
	}
	if b == [blockSize]byte{} {
		return io.EOF
	}
	sum := int64(0)
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	want, err := number(b[148:156])
	if err != nil || want != sum {
		return errors.New("this is no tar archive, or a damaged one")
	}
	*m = member{name: cString(b[:100]), kind: b[156], link: cString(b[157:257])}
	if bytes.HasPrefix(b[257:], []byte("ustar\x00")) && b[345] != 0 {
		m.name = cString(b[345:500]) + "/" + m.name
	}
	mode, _ := number(b[100:108])
	m.mode = fs.FileMode(mode) & 0o777
	m.size, err = number(b[124:136])
	return err
}

// extend takes the attributes of a pax header, "length key=value" lines.
func (m *member) extend(pax string) error {
	for pax != "" {
		digits, rest, _ := strings.Cut(pax, " ")
		n, err := strconv.Atoi(digits)
		if err != nil || n < len(digits)+3 || n > len(pax) || pax[n-1] != '\n' {
			return errors.New("the archive has a damaged pax header")
		}
		key, value, _ := strings.Cut(rest[:n-len(digits)-2], "=")
		pax = pax[n:]
		switch key {
		case "path":
			m.name = value
		case "linkpath":
			m.link = value
		case "size":
			if m.size, err = strconv.ParseInt(value, 10, 64); err != nil || m.size < 0 {
				return errors.New("the archive has a damaged pax header")
			}
		}
		if strings.HasPrefix(key, "GNU.sparse.") {
			m.kind = 'S'
		}
	}
	return nil
}

// number reads a number of a header: octal, or in base 256 where the first bit
// is set.
func number(b []byte) (n int64, err error) {
	if b[0] == 0x80 {
		for _, c := range b[1:] {
			if n > 1<<54 {
				return 0, errors.New("the archive has a number that is too large")
			}
			n = n<<8 | int64(c)
		}
		return n, nil
	}
	text := strings.Trim(string(b), " \x00")
	if text == "" {
		return 0, nil
	}
	if n, err = strconv.ParseInt(text, 8, 64); err != nil || n < 0 {
		return 0, errors.New("the archive has a damaged number")
	}
	return n, nil
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// padding is what fills the last block of size bytes.
func padding(size int64) int64 { return -size & (blockSize - 1) }

func skip(in io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, in, n)
	return short(err)
}

func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errShort
	}
	return err
}
