package tools

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The labels of the charsets that are built in (WHATWG Encoding, section 4.2),
// each between blanks.
const (
	utf8Names    = " utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 "
	latin1Names  = " iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 latin-1 l1 csisolatin1 cp819 ibm819 us-ascii ascii ansi_x3.4-1968 iso646-us windows-1252 cp1252 x-cp1252 "
	latin9Names  = " iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin-9 latin9 l9 csisolatin9 "
	utf16Names   = " utf-16 utf-16le utf16 utf16le ucs-2 unicode csunicode iso-10646-ucs-2 "
	utf16BENames = " utf-16be utf16be unicodefffe "
)

// decodeText turns the bytes of a page into UTF-8. The charset comes from a
// byte order mark, else the header's content type, else, where the page is
// markup, its own declaration (WHATWG Encoding, section 6). Without any, bytes
// that are not UTF-8 are Western European. A charset that is not built in is an
// error, since a wrong guess would print rubbish.
func decodeText(b []byte, contentType string, markup bool) (string, error) {
	switch {
	case bytes.HasPrefix(b, []byte(bom)):
		return decodeUTF8(b[len(bom):]), nil
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return decodeUTF16(b[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return decodeUTF16(b[2:], binary.BigEndian), nil
	}
	name := charsetOf(contentType)
	if name == "" && markup {
		name = declaredCharset(b)
		if strings.HasPrefix(name, "utf-16") { // it could not be read if that were so
			name = "utf-8"
		}
	}
	switch in := func(names string) bool { return strings.Contains(names, " "+name+" ") }; {
	case name == "":
		if utf8.Valid(b) {
			return string(b), nil
		}
		return decodeBytes(b, ""), nil
	case in(utf8Names):
		return decodeUTF8(b), nil
	case in(latin1Names):
		return decodeBytes(b, ""), nil
	case in(latin9Names):
		return decodeBytes(b, latin9), nil
	case in(utf16Names):
		return decodeUTF16(b, binary.LittleEndian), nil
	case in(utf16BENames):
		return decodeUTF16(b, binary.BigEndian), nil
	}
	return "", fmt.Errorf("unsupported charset %q", cutText(name, 40))
}

// charsetOf is the charset= of a content type, in lower case. A header with
// faults elsewhere still has it.
func charsetOf(contentType string) string {
	low := strings.ToLower(contentType)
	for {
		_, after, found := strings.Cut(low, "charset")
		if !found {
			return ""
		}
		if value, ok := strings.CutPrefix(strings.TrimLeft(after, blanks), "="); ok {
			value = strings.TrimLeft(value, blanks+`"'`)
			end := strings.IndexAny(value, blanks+`"';,`)
			if end < 0 {
				end = len(value)
			}
			return value[:end]
		}
		low = after
	}
}

// declaredCharset is what a page says of itself in its first bytes: in a meta
// element or an XML declaration.
func declaredCharset(b []byte) string {
	head := string(b[:min(len(b), 4096)])
	if strings.HasPrefix(head, "<?xml") {
		if name := attr(head[len("<?xml"):tagEnd(head)], "encoding"); name != "" {
			return strings.ToLower(name)
		}
	}
	s := htmlScanner{src: head}
	for t, ok := s.next(); ok; t, ok = s.next() {
		if t.name != "meta" || t.end {
			continue
		}
		if name := strings.Trim(attr(t.text, "charset"), blanks); name != "" {
			return strings.ToLower(name)
		}
		if strings.EqualFold(attr(t.text, "http-equiv"), "content-type") {
			if name := charsetOf(attr(t.text, "content")); name != "" {
				return name
			}
		}
	}
	return ""
}

func decodeUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// trimPartial drops a character of UTF-8 that was cut at the end.
func trimPartial(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// cp1252 holds what windows-1252 has at 0x80 to 0x9f; browsers read latin-1 and
// ASCII so too.
const cp1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// latin9 holds pairs: what windows-1252 has where iso-8859-15 differs from
// latin-1, and what stands there instead.
const latin9 = "¤€¦Š¨š´Ž¸ž¼Œ½œ¾Ÿ"

// decodeBytes reads one byte a character. differs holds pairs, of which the
// second takes the place of the first.
func decodeBytes(b []byte, differs string) string {
	var table [128]rune
	for i := range table {
		table[i] = rune(0x80 + i)
	}
	copy(table[:], []rune(cp1252))
	swap := []rune(differs)
	for i := 0; i+1 < len(swap); i += 2 {
		table[swap[i]-0x80] = swap[i+1]
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for _, c := range b {
		if c < 0x80 {
			out.WriteByte(c)
		} else {
			out.WriteRune(table[c-0x80])
		}
	}
	return out.String()
}

func decodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
