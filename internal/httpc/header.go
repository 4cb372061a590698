package httpc

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Header is the fields of a request or an answer in their order. Names are
// compared without case; none is nil.
type Header []Field

// Field is one line of a header.
type Field struct{ Name, Value string }

// Get is the value of the first field of a name, "" if there is none.
func (h Header) Get(name string) string {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

// Set puts one field in place of all of its name.
func (h *Header) Set(name, value string) {
	h.Del(name)
	*h = append(*h, Field{name, value})
}

// Del removes all fields of a name. Other headers that share h's fields are
// left alone.
func (h *Header) Del(name string) {
	var kept Header
	for _, f := range *h {
		if !strings.EqualFold(f.Name, name) {
			kept = append(kept, f)
		}
	}
	*h = kept
}

// SetBasic says who asks, by name and password (RFC 7617). A nil user is nobody.
func (h *Header) SetBasic(user *url.Userinfo) {
	if user != nil {
		h.Set("Authorization", basic(user))
	}
}

func basic(user *url.Userinfo) string {
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

// lists says whether the fields of a name, each a list with commas, have a word.
func (h Header) lists(name, word string) bool {
	for i := range h {
		if !strings.EqualFold(h[i].Name, name) {
			continue
		}
		for rest, more := h[i].Value, true; more; {
			var w string
			w, rest, more = strings.Cut(rest, ",")
			if strings.EqualFold(trim(w), word) {
				return true
			}
		}
	}
	return false
}

// trim cuts off what may stand around a value.
func trim(s string) string { return strings.Trim(s, " \t") }

// IsToken says whether s is a word such as the name of a field (RFC 9110,
// section 5.6.2).
func IsToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// IsValue says whether s can be the value of a field: nothing in it ends the
// line.
func IsValue(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

// appendHead writes the head of a request. Whatever could be read as more than
// one request is refused.
func appendHead(b []byte, r *Request, w *way) ([]byte, error) {
	if !IsToken(r.Method) {
		return nil, fmt.Errorf("the method %q cannot be sent", r.Method)
	}
	target := escapeTarget(r.URL.RequestURI())
	if w.relayed() {
		target = r.URL.Scheme + "://" + w.named + target
	}
	host := r.Header.Get("Host")
	if host == "" {
		host = w.named
	}
	b = append(b, r.Method+" "+target+" HTTP/1.1\r\n"...)
	fields := append(Header{{"Host", host}}, r.Header...)
	fields = append(fields, Field{"Accept-Encoding", "gzip"})
	if r.Body != nil {
		fields = append(fields, Field{"Content-Length", strconv.FormatInt(r.Size, 10)})
	}
	if w.relayed() && w.proxy.User != nil {
		fields = append(fields, Field{"Proxy-Authorization", basic(w.proxy.User)})
	}
	for i, f := range fields {
		if !IsToken(f.Name) || !IsValue(f.Value) {
			return nil, fmt.Errorf("the header %q cannot be sent", f.Name)
		}
		if i == 0 || !strings.EqualFold(f.Name, "Host") {
			b = append(b, f.Name+": "+f.Value+"\r\n"...)
		}
	}
	return append(b, "\r\n"...), nil
}

// escapeTarget escapes what may not stand in a request line.
func escapeTarget(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
