package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

const bom = "\ufeff" // as UTF-8, what Windows editors put in front

// errEnough says that a source gave up counting, not that reading failed.
var errEnough = errors.New("enough read")

// source is a reader that ends with its context and, when until is set, at
// that moment with errEnough.
type source struct {
	ctx   context.Context
	r     io.Reader
	until time.Time
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if !s.until.IsZero() && time.Now().After(s.until) {
		return 0, errEnough
	}
	return s.r.Read(p)
}

// readLine reads one line without its line feed. text holds at most limit
// bytes of it and ends with a whole character, size is its length. The error is
// io.EOF when nothing was left; with errEnough the line may be longer.
func readLine(br *bufio.Reader, limit int) (text []byte, size int64, err error) {
	for {
		part, err := br.ReadSlice('\n')
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		room := limit + utf8.UTFMax - len(text)
		text = append(text, part[:min(len(part), room)]...)
		size += int64(len(part))
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && size > 0:
			ended = true
		case err != nil && err != errEnough:
			return nil, 0, err
		}
		if n := len(cutBytes(text, limit)); n < len(text) {
			text = text[:n]
		}
		if !ended {
			return text, size, err
		}
		return text, size, nil
	}
}

// cutBytes shortens b to at most n bytes and never cuts a character.
func cutBytes(b []byte, n int) []byte {
	return b[:len(cutText(string(b[:min(len(b), n+utf8.UTFMax)]), n))]
}

// skipLines reads over n lines and returns how many there were.
func skipLines(br *bufio.Reader, n int64) (skipped int64, err error) {
	partial := false
	for skipped < n {
		part, err := br.ReadSlice('\n')
		switch {
		case err == nil:
			skipped++
			partial = false
		case err == bufio.ErrBufferFull:
			partial = true
		case err == io.EOF:
			if partial || len(part) > 0 {
				skipped++
			}
			return skipped, nil
		default:
			return skipped, err
		}
	}
	return skipped, nil
}

// countLines counts the lines that are left. When reading ends early, for
// whatever reason, the count is not exact.
func countLines(br *bufio.Reader) (n int64, exact bool) {
	buf := make([]byte, 32<<10)
	last := byte('\n')
	for {
		k, err := br.Read(buf)
		if k > 0 {
			n += int64(bytes.Count(buf[:k], []byte{'\n'}))
			last = buf[k-1]
		}
		if err != nil {
			if last != '\n' {
				n++
			}
			return n, err == io.EOF
		}
	}
}

// sniffSize is how much of a file decides whether it is text.
const sniffSize = 8000

// isBinary says whether the beginning of a file is no text: it holds a NUL
// byte, or a third of it are control characters that text does not have.
func isBinary(head []byte) bool {
	odd := 0
	for _, c := range head {
		switch {
		case c == 0:
			return true
		case c < '\a' || c > '\r' && c < ' ' && c != 0x1b || c == 0x7f:
			odd++
		}
	}
	return odd > len(head)/3
}

// fileType names what a file seems to be by its first bytes.
func fileType(head []byte) string {
	for _, t := range []struct {
		at          int
		magic, name string
	}{
		{0, "\x7fELF", "ELF program or library"},
		{0, "\x1f\x8b", "gzip"},
		{0, "BZh", "bzip2"},
		{0, "\xfd7zXZ", "xz"},
		{0, "\x28\xb5\x2f\xfd", "zstd"},
		{0, "PK\x03\x04", "zip"},
		{257, "ustar", "tar archive"},
		{0, "hsqs", "squashfs image"},
		{0, "UBI#", "UBI image"},
		{0, "\x27\x05\x19\x56", "U-Boot image"},
		{0, "\xd0\x0d\xfe\xed", "device tree blob"},
		{0, "\x89PNG", "PNG image"},
		{0, "\xff\xd8\xff", "JPEG image"},
		{0, "GIF8", "GIF image"},
		{0, "%PDF", "PDF"},
		{0, "SQLite format 3", "SQLite database"},
		{0, "\xd4\xc3\xb2\xa1", "packet capture"},
		{0, "\xff\xfe", "UTF-16 text"},
		{0, "\xfe\xff", "UTF-16 text"},
	} {
		if len(head) >= t.at && bytes.HasPrefix(head[t.at:], []byte(t.magic)) {
			return t.name
		}
	}
	return "unknown type"
}

// plural is "1 line", "2 lines".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if len(noun) > 1 && noun[len(noun)-1] == 'y' {
		noun = noun[:len(noun)-1] + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
