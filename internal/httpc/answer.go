package httpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// framing says how the body of an answer ends.
type framing struct {
	chunked bool
	left    int64 // bytes of the body, -1 where the end of the connection ends it
	keep    bool  // the connection can be used again after it
}

// lineReader reads the lines of a head or a trailer, all of them within a limit.
type lineReader struct {
	in   *bufio.Reader
	left int
}

// MalformedError is an answer that cannot be read. Text is what came, whole and
// as it came, so that a caller can take out what nobody may see before it is
// cut; the error itself shows no more than its beginning.
type MalformedError struct{ What, Text string }

func (e *MalformedError) Error() string {
	return fmt.Sprintf("%s %q", e.What, e.Text[:min(len(e.Text), 80)])
}

var errLongHead = fmt.Errorf("the header of the answer exceeds %d bytes", maxHead)

// next is the next line without its end. A line may end without a carriage
// return, as RFC 9112 has it in section 2.2.
func (l *lineReader) next() (string, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if l.left -= len(part); l.left < 0 {
			return "", errLongHead
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return string(line), nil
}

// readHead reads the head of the final answer to a request.
func readHead(in *bufio.Reader, method string) (*Response, framing, error) {
	l := &lineReader{in, maxHead}
	for {
		resp, old, err := readStatus(l)
		if err != nil {
			return nil, framing{}, err
		}
		if resp.Header, err = readFields(l); err != nil {
			return nil, framing{}, err
		}
		switch {
		case resp.Status == 101:
			return nil, framing{}, errors.New("the server changes to another protocol, which was not asked for")
		case resp.Status < 200:
			continue
		}
		f, err := framingOf(resp, method, old)
		if resp.Length = f.left; f.chunked {
			resp.Length = -1
		}
		return resp, f, err
	}
}

// readStatus reads the first line of an answer; old is true for HTTP/1.0.
func readStatus(l *lineReader) (resp *Response, old bool, err error) {
	line, err := l.next()
	if err != nil {
		return nil, false, err
	}
	version, rest, _ := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, bad := strconv.ParseUint(code, 10, 16)
	if len(version) != 8 || version[:7] != "HTTP/1." || version[7] < '0' || version[7] > '9' || bad != nil || len(code) != 3 || status < 100 {
		return nil, false, &MalformedError{"malformed HTTP response", line}
	}
	return &Response{Status: int(status), Reason: trim(reason)}, version[7] == '0', nil
}

// readFields reads the fields up to the empty line. A field that goes on in
// the next line, which RFC 9112 lets a client read in section 5.2, is joined.
func readFields(l *lineReader) (Header, error) {
	var h Header
	for {
		line, err := l.next()
		if err != nil || line == "" {
			return h, err
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimRight(name, " \t") // as RFC 9112 wants of a proxy in section 5.1
		switch folded := line[0] == ' ' || line[0] == '\t'; {
		case !IsValue(line), folded && len(h) == 0, !folded && (!ok || !IsToken(name)):
			return nil, &MalformedError{"malformed header line", line}
		case folded:
			last := &h[len(h)-1]
			last.Value = trim(last.Value + " " + trim(line))
		default:
			h = append(h, Field{name, trim(value)})
		}
	}
}

// framingOf applies RFC 9112, section 6.3. An answer with two lengths that
// differ is refused; chunked counts for more than a length, but after both the
// connection is not trusted any more.
func framingOf(r *Response, method string, old bool) (framing, error) {
	f := framing{left: -1, keep: !old && !r.Header.lists("Connection", "close") || old && r.Header.lists("Connection", "keep-alive")}
	length, err := contentLength(r.Header)
	if method == "HEAD" || r.Status == 204 || r.Status == 304 {
		f.left = 0
		return f, nil
	}
	coding := r.Header.Get("Transfer-Encoding")
	if strings.EqualFold(coding, "identity") { // none, in an old word
		r.Header.Del("Transfer-Encoding")
		coding = r.Header.Get("Transfer-Encoding")
	}
	for _, field := range r.Header {
		if strings.EqualFold(field.Name, "Transfer-Encoding") && !strings.EqualFold(field.Value, "chunked") {
			return f, &MalformedError{"unsupported transfer encoding", field.Value}
		}
	}
	switch {
	case coding != "":
		f.chunked, f.left = true, 0
		f.keep = f.keep && !old && r.Header.Get("Content-Length") == ""
	case err != nil:
		return f, err
	case length >= 0:
		f.left = length
	default:
		f.keep = false
	}
	return f, nil
}

// contentLength is the length that a header announces, -1 if it does not.
func contentLength(h Header) (int64, error) {
	length := int64(-1)
	for i := range h {
		if !strings.EqualFold(h[i].Name, "Content-Length") {
			continue
		}
		for rest, more := h[i].Value, true; more; {
			var word string
			word, rest, more = strings.Cut(rest, ",")
			n, err := strconv.ParseUint(trim(word), 10, 63)
			if err != nil || length >= 0 && int64(n) != length {
				return -1, &MalformedError{"bad Content-Length", h[i].Value}
			}
			length = int64(n)
		}
	}
	return length, nil
}
