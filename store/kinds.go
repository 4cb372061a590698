package store

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// A kind is the type and range of a key's value. A value of the wrong kind is
// never stored.
type kind struct {
	desc   string // completes "must be ..."
	text   bool   // on a command line the value is the text itself, not JSON
	secret bool   // never shown
	path   bool   // a leading ~/ is the home
	check  func(*fastjson.Value) error
}

// errKind says that a value is not what desc says, and no more.
var errKind = errors.New("wrong kind")

// verify returns what is wrong with v, as the end of a sentence that begins
// with the key's name.
func (k kind) verify(v *fastjson.Value) error {
	err := k.check(v)
	switch {
	case err == nil || !errors.Is(err, errKind):
		return err
	case k.secret:
		return errors.New("must be " + k.desc)
	}
	return fmt.Errorf("must be %s, not %s", k.desc, chat.EscapeText(withoutSecrets(jsonText(v)), 60))
}

// withoutSecrets hides what an address may hold that is for nobody else: the
// name, the password and the query.
func withoutSecrets(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "***" + rest[i:]
	}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		rest = rest[:i] + `?***"`
	}
	return scheme + "://" + rest
}

func jsonText(v *fastjson.Value) string { return string(chat.AppendValue(nil, v)) }

func is(ok bool) error {
	if ok {
		return nil
	}
	return errKind
}

// stringOf is the text of a JSON string. ok is false for other values and for
// texts with control characters, which no setting needs.
func stringOf(v *fastjson.Value) (s string, ok bool) {
	if v.Type() != fastjson.TypeString {
		return "", false
	}
	s = string(v.GetStringBytes())
	return s, strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) < 0
}

// textKind is a string of which accept approves.
func textKind(desc string, accept func(string) bool) kind {
	return kind{desc: desc, text: true, check: func(v *fastjson.Value) error {
		s, ok := stringOf(v)
		return is(ok && accept(s))
	}}
}

func notEmpty(s string) bool { return strings.TrimSpace(s) != "" }

func oneOf(words ...string) kind {
	desc := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	return textKind(desc, func(s string) bool { return slices.Contains(words, s) })
}

// pathKind is an absolute path or one below the home: a relative one would mean
// another file in every directory.
func pathKind() kind {
	k := textKind("an absolute path, or one that begins with ~/", func(s string) bool {
		return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/")
	})
	k.path = true
	return k
}

// urlKind is the address of a server. Name, password and query would be shown
// wherever the address is.
func urlKind() kind {
	return textKind("an address that begins with http:// or https:// and names a host, without user, query or fragment", func(s string) bool {
		query, ok := serverURL(s)
		return ok && query == ""
	})
}

// apiKind is the address of an API, which on Azure's older paths has a version.
func apiKind() kind {
	return textKind("an address that begins with http:// or https:// and names a host, without user, fragment or query (but api-version)", func(s string) bool {
		query, ok := serverURL(s)
		return ok && (query == "" || strings.HasPrefix(query, "api-version=") && !strings.Contains(query, "&"))
	})
}

// serverURL says whether s is the address of a server, and its query.
func serverURL(s string) (query string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	return u.RawQuery, u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

func keyKind() kind {
	return kind{
		desc: fmt.Sprintf("one line of printable ASCII, at most %d bytes", maxKey), text: true, secret: true,
		check: func(v *fastjson.Value) error {
			_, err := screen(string(v.GetStringBytes()))
			return is(v.Type() == fastjson.TypeString && err == nil)
		},
	}
}

func boolKind() kind {
	return kind{desc: "true or false", check: func(v *fastjson.Value) error {
		return is(v.Type() == fastjson.TypeTrue || v.Type() == fastjson.TypeFalse)
	}}
}

// intKind is a whole number. Ranges that have no upper end stop at the largest
// 32-bit number, on every device alike.
func intKind(min, max int) kind {
	desc := fmt.Sprintf("a whole number from %d to %d", min, max)
	if max == math.MaxInt32 {
		desc = fmt.Sprintf("a whole number, %d or more", min)
	}
	return kind{desc: desc, check: func(v *fastjson.Value) error {
		n, err := v.Int64()
		return is(err == nil && n >= int64(min) && n <= int64(max))
	}}
}

func numberKind(min, max float64) kind {
	return kind{desc: fmt.Sprintf("a number from %g to %g", min, max), check: func(v *fastjson.Value) error {
		n, err := v.Float64()
		return is(err == nil && n >= min && n <= max)
	}}
}

// maxDuration is the longest duration, 30 days.
const maxDuration = 30 * 24 * time.Hour

func durationKind() kind {
	return kind{desc: `seconds, or a text like "90s", "10m" or "1h30m", at most 30 days`, check: func(v *fastjson.Value) error {
		_, ok := durationOf(v)
		return is(ok)
	}}
}

// durationOf reads whole seconds or the text of a duration.
func durationOf(v *fastjson.Value) (time.Duration, bool) {
	if s, ok := stringOf(v); ok {
		d, err := time.ParseDuration(s)
		return d, err == nil && d >= 0 && d <= maxDuration
	}
	n, err := v.Int64()
	if err != nil || n < 0 || n > int64(maxDuration/time.Second) {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// listKind is a list of strings of which accept approves each.
func listKind(desc string, accept func(string) bool) kind {
	return kind{desc: "a list of " + desc, check: func(v *fastjson.Value) error {
		if v.Type() != fastjson.TypeArray {
			return errKind
		}
		for _, e := range v.GetArray() {
			if s, ok := stringOf(e); !ok || !accept(s) {
				return errKind
			}
		}
		return nil
	}}
}

// stringsOf is the list that a listKind approved.
func stringsOf(v *fastjson.Value) []string {
	out := []string{}
	for _, e := range v.GetArray() {
		out = append(out, string(e.GetStringBytes()))
	}
	return out
}

// isVariable accepts the name of an environment variable.
func isVariable(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// objectKind is an object of which check approves each member.
func objectKind(desc string, check func(name string, v *fastjson.Value) error) kind {
	return kind{desc: desc, check: func(v *fastjson.Value) error {
		if v.Type() != fastjson.TypeObject {
			return errKind
		}
		var fault error
		v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
			if fault == nil {
				fault = check(string(k), v)
			}
		})
		return fault
	}}
}

// extraKind is what is merged into requests. What the request says of itself
// cannot be replaced.
func extraKind() kind {
	return objectKind("an object", func(name string, _ *fastjson.Value) error {
		switch name {
		case "model", "messages", "tools", "stream":
			return fmt.Errorf("may not hold %q, which is the program's own", name)
		}
		return nil
	})
}

// headersKind is request headers, RFC 9110, section 5: names of token
// characters, values without control characters.
func headersKind() kind {
	k := objectKind("an object of header names and texts", func(name string, v *fastjson.Value) error {
		if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "" || name == "" {
			return fmt.Errorf("holds %q, which is no name of a header", chat.EscapeText(name, 60))
		}
		switch strings.ToLower(name) {
		case "host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding":
			return fmt.Errorf("may not set %s, which the request itself sets", name)
		}
		if _, ok := stringOf(v); !ok {
			return fmt.Errorf("must give %s a text of one line", name)
		}
		return nil
	})
	k.secret = true
	return k
}

// serversKind is a map of names to objects that are looked into later.
func serversKind() kind {
	return objectKind("an object of names and objects", func(name string, v *fastjson.Value) error {
		if v.Type() != fastjson.TypeObject {
			return fmt.Errorf("must give %q an object", chat.EscapeText(name, 60))
		}
		return nil
	})
}

func historyKind() kind {
	k := pathKind()
	k.desc += `, or ""`
	check := k.check
	k.check = func(v *fastjson.Value) error {
		if s, ok := stringOf(v); ok && s == "" {
			return nil
		}
		return check(v)
	}
	return k
}

func autoKind() kind {
	return kind{desc: `true, false or "auto"`, check: func(v *fastjson.Value) error {
		s, _ := stringOf(v)
		return is(boolKind().check(v) == nil || s == "auto")
	}}
}

// switchKind is a cell of the table of hosts, which the client looks into.
func switchKind() kind {
	return kind{desc: "true, false or a word", check: func(v *fastjson.Value) error {
		_, ok := stringOf(v)
		return is(ok || boolKind().check(v) == nil)
	}}
}

func toolsKind() kind {
	k := listKind("names of tools", notEmpty)
	check := k.check
	k.check = func(v *fastjson.Value) error {
		if err := check(v); err != nil {
			return err
		}
		for _, s := range stringsOf(v) {
			if _, ok := toolName(s); !ok {
				return unknownTool("names", s)
			}
		}
		return nil
	}
	return k
}
