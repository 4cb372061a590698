package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"cluade/internal/policy"
)

var read = Tool{
	Name:    "read",
	Desc:    "Read a text file as 'N: text' lines. Use offset and limit for long files.",
	Params:  `{"type":"object","properties":{"filePath":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"},"host":{"type":"string"}},"required":["filePath"]}`,
	Effect:  policy.Read,
	Subject: fileSubject,
	Run:     runRead,
}

const (
	maxLine     = 2000      // bytes of a line that are shown
	maxPage     = 400 << 10 // bytes of text in one result, whatever Env.Keep says
	maxKernel   = 64 << 10  // bytes taken from a file of the kernel
	readTime    = 10 * time.Second
	kernelTime  = 2 * time.Second
	countTime   = time.Second // for a page and for counting what comes behind it
	trailerSize = 128         // bytes kept free for the last line of a page
)

func runRead(ctx context.Context, e *Env, a *Args) (Result, error) {
	p, name := a.subject.Paths[0], a.Text("filePath")
	pg := page{name: name, kernel: kernelFS(p.Real), first: 1, limit: math.MaxInt64, keep: min(e.keep(), maxPage)}
	if a.Has("offset") {
		pg.first = a.Int("offset")
	}
	if a.Has("limit") {
		pg.limit = a.Int("limit")
	}
	if pg.first < 1 || pg.limit < 1 {
		return Result{}, errors.New("offset and limit must be at least 1")
	}
	if a.subject.Host != "" {
		return pg.runRemote(ctx, e, a)
	}
	// From here on the model knows better than what it read before, also when
	// this fails.
	delete(e.Seen, p.Real)
	wait := readTime
	if pg.kernel {
		wait = kernelTime
	}
	out, err := await(ctx, wait, func(ctx context.Context) (readout, error) { return pg.readFile(ctx, p) })
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return Result{}, fmt.Errorf("%s: not read to the end within %s", shown(name), wait)
	case err != nil:
		return Result{}, err
	}
	if !pg.kernel {
		e.see(p.Real, out.seen)
	}
	return Result{Text: out.text}, nil
}

// Page is what a call of read shows, for a person who named the file in a
// message. The rules must have been asked.
func (c *Call) Page(ctx context.Context) (string, error) {
	r, err := runRead(ctx, c.env, c.Args)
	return r.Text, err
}

// see notes what a file is like now that the model knows its content.
func (e *Env) see(real string, s Seen) {
	if e.Seen == nil {
		e.Seen = make(map[string]Seen)
	}
	e.Seen[real] = s
}

// page is the part of a file that one result shows. It ends before the result
// grows past keep, so that its last line always arrives whole.
type page struct {
	name   string
	kernel bool  // a file of procfs or sysfs
	first  int64 // number of the first line wanted, from 1
	limit  int64 // most lines
	keep   int   // most bytes of the result
}

// readout is a page as text, and what the file was like before it was read.
type readout struct {
	text string
	seen Seen
}

func (pg *page) readFile(ctx context.Context, p policy.Path) (readout, error) {
	f, fi, err := openRegular(p, pg.name)
	if err != nil {
		return readout{}, err
	}
	defer f.Close()
	out := readout{seen: Seen{fi.Size(), fi.ModTime()}}
	if pg.kernel {
		f.SetReadDeadline(time.Now().Add(kernelTime - kernelTime/8)) // helps where the file can be waited for, like kmsg
	}
	out.text, err = pg.read(&source{ctx: ctx, r: f}, fi.Size())
	return out, err
}

// read makes the page from a file's content.
func (pg *page) read(src *source, size int64) (string, error) {
	if pg.kernel {
		return pg.readKernel(src)
	}
	br := bufio.NewReaderSize(src, 32<<10)
	head, err := br.Peek(sniffSize)
	if err != nil && err != io.EOF {
		return "", pg.readError(err)
	}
	if isBinary(head) {
		return "", fmt.Errorf("%s is binary (%d bytes, %s); look at it through bash with strings or hexdump", shown(pg.name), size, fileType(head))
	}
	return pg.show(br, src)
}

// readKernel reads a file of procfs or sysfs, whose size says nothing. Values
// there may end in NUL bytes or be separated by them (cmdline, environ, the
// device tree): they count as line ends.
func (pg *page) readKernel(src *source) (string, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxKernel+1))
	note := ""
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		note = "\n[no end within 2 s; this is what came]"
	case err != nil:
		return "", pg.readError(err)
	case len(data) > maxKernel:
		data = data[:maxKernel]
		note = "\n[only the first 64 KiB of a kernel file are read]"
	}
	text := bytes.ReplaceAll(bytes.TrimRight(data, "\x00"), []byte{0}, []byte{'\n'})
	if isBinary(text) || bytes.Count(data, []byte{0}) > len(data)/2 {
		return "", fmt.Errorf("%s is binary (%d bytes read); look at it through bash with hexdump", shown(pg.name), len(data))
	}
	pg.keep -= len(note)
	src.r = bytes.NewReader(text)
	result, err := pg.show(bufio.NewReader(src), src)
	return result + note, err
}

// show formats the wanted lines.
func (pg *page) show(br *bufio.Reader, src *source) (string, error) {
	n, err := skipLines(br, pg.first-1)
	if err != nil {
		return "", pg.readError(err)
	}
	src.until = time.Now().Add(countTime)
	var b strings.Builder
	for taken := int64(0); ; taken++ {
		text, size, err := readLine(br, min(maxLine, pg.keep/2))
		if err == io.EOF {
			break
		}
		if err != nil && err != errEnough {
			return "", pg.readError(err)
		}
		n++
		line := pageLine(n, text, size, err == nil)
		if taken == pg.limit || taken > 0 && b.Len()+len(line) > pg.keep-trailerSize {
			more, exact := countLines(br)
			return b.String() + pageTrailer(pg.first, n-1, n+more, exact), nil
		}
		b.WriteString(line)
		if err == errEnough {
			return b.String() + pageTrailer(pg.first, n, n, false), nil
		}
	}
	switch {
	case n == 0:
		return "(empty file)", nil
	case n < pg.first:
		return fmt.Sprintf("(%s has %s; offset %d is past the end)", shown(pg.name), plural(n, "line"), pg.first), nil
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (pg *page) readError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("read %s: %s", shown(pg.name), errnoText(err))
}

// pageLine is line n, of which text is what is shown and size what it holds.
// Repairing the text here keeps the result from growing when it is cleaned.
func pageLine(n int64, text []byte, size int64, exact bool) string {
	if n == 1 && bytes.HasPrefix(text, []byte(bom)) {
		text, size = text[len(bom):], size-int64(len(bom))
	}
	line := strconv.FormatInt(n, 10) + ": " + strings.ToValidUTF8(string(text), "\ufffd")
	if dropped := size - int64(len(text)); dropped > 0 {
		line += fmt.Sprintf(" [+%d bytes%s]", dropped, orMore(exact))
	}
	return line + "\n"
}

func orMore(exact bool) string {
	if exact {
		return ""
	}
	return " or more"
}

func pageTrailer(first, last, total int64, exact bool) string {
	of := "of"
	if !exact {
		of = "of at least"
	}
	return fmt.Sprintf("[lines %d-%d %s %d; continue with offset=%d]", first, last, of, total, last+1)
}
