package httpc

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

// body is the body of an answer. At its end the connection is kept or closed.
type body struct {
	x     *exchange
	in    *bufio.Reader
	f     framing // left is that of the chunk where it is chunked
	begun bool    // a chunk was begun, whose end line is still to come
	err   error   // how it ended
}

var errClosed = errors.New("the body was closed")

func newBody(x *exchange, f framing) *body {
	b := &body{x: x, in: x.conn.in, f: f}
	if !f.chunked && f.left == 0 {
		b.finish(io.EOF)
	}
	return b
}

// Read gives what is there without waiting for more. What is cut off ends in
// io.ErrUnexpectedEOF.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, done, err := b.read(p)
	switch {
	case done:
		b.finish(io.EOF)
	case err == io.EOF:
		b.finish(io.ErrUnexpectedEOF)
	case err != nil:
		b.finish(err)
	}
	return n, b.err
}

// read also says that the body is at its end.
func (b *body) read(p []byte) (n int, done bool, err error) {
	if b.f.left < 0 {
		n, err = b.in.Read(p)
		return n, err == io.EOF, err
	}
	if b.f.chunked && b.f.left == 0 {
		if done, err = b.nextChunk(); done || err != nil {
			return 0, done, err
		}
	}
	if int64(len(p)) > b.f.left {
		p = p[:b.f.left]
	}
	n, err = b.in.Read(p)
	b.f.left -= int64(n)
	return n, !b.f.chunked && b.f.left == 0, err
}

// nextChunk reads on to the data of the next chunk, or through the trailer that
// ends them (RFC 9112, section 7.1).
func (b *body) nextChunk() (done bool, err error) {
	if b.begun {
		if line, err := b.chunkLine(); err != nil || line != "" {
			return false, orMalformed(err)
		}
	}
	line, err := b.chunkLine()
	if err != nil {
		return false, err
	}
	digits, _, _ := strings.Cut(line, ";")
	size, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 63)
	if err != nil {
		return false, orMalformed(nil)
	}
	b.begun, b.f.left = true, int64(size)
	if size > 0 {
		return false, nil
	}
	_, err = readFields(&lineReader{b.in, maxHead})
	return err == nil, err
}

// chunkLine is a line of a few bytes. Here it must end in both characters:
// readers that differ over less see different bodies.
func (b *body) chunkLine() (string, error) {
	line, err := b.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull || err == nil && (len(line) < 2 || line[len(line)-2] != '\r') {
		err = orMalformed(nil)
	}
	if err != nil {
		return "", err
	}
	return string(line[:len(line)-2]), nil
}

func orMalformed(err error) error {
	if err == nil {
		err = errors.New("malformed chunked encoding")
	}
	return err
}

// finish notes how the body ended.
func (b *body) finish(err error) {
	b.x.end(err == io.EOF && b.f.keep)
	if err != io.EOF && err != errClosed && b.x.ctx.Err() != nil {
		err = context.Cause(b.x.ctx)
	}
	b.err = err
}

// Close closes the connection unless the body was read to its end.
func (b *body) Close() error {
	if b.err == nil {
		b.finish(errClosed)
	}
	return nil
}

// unzip undoes the compression that every request offers.
func unzip(r *Response) {
	coding := strings.ToLower(r.Header.Get("Content-Encoding")) // x-gzip: RFC 9110, section 8.4.1.3
	if r.Length == 0 || coding != "gzip" && coding != "x-gzip" {
		return
	}
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	r.Length = -1
	r.Body = &unzipped{from: r.Body}
}

type unzipped struct {
	from io.ReadCloser
	z    *gzip.Reader
	err  error
}

// Read gives the text of a block when the server has flushed it.
func (u *unzipped) Read(p []byte) (n int, err error) {
	if u.z == nil && u.err == nil {
		u.z, u.err = gzip.NewReader(u.from)
	}
	if u.err == nil {
		n, u.err = u.z.Read(p)
	}
	return n, u.err
}

func (u *unzipped) Close() error { return u.from.Close() }
