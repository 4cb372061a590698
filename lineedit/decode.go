package lineedit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Key is one key press, a run of plain characters, or a paste.
type Key struct {
	Code Code
	Text string // of CodeText and CodePaste
	Alt  bool   // with the Alt or Meta key; a text is then one character
	Ctrl bool   // of an arrow key
	Cut  bool   // a paste was longer than what is kept of it
}

// Code says what kind of key it is. Control characters are themselves:
// Code('A'-64) is Ctrl-A.
type Code int

// The keys that are no control characters.
const (
	CodeText Code = iota + 256
	CodeUp
	CodeDown
	CodeRight
	CodeLeft
	CodeHome
	CodeEnd
	CodeDelete
	CodePageUp
	CodePageDown
	CodeEscape
	CodePaste
	CodeResize   // no key: the window has another size
	CodeContinue // no key: the process was stopped, and others had the terminal
	codeUnknown  // a sequence that no key here has; to be ignored
	codeString   // the beginning of a control string
)

func ctrl(c byte) Code { return Code(c & 0x1f) }

// maxMessage bounds one paste and all of a message, in bytes.
const maxMessage = 2 << 20

// decoder turns bytes into keys. Bytes may come in pieces of any size; a
// sequence may be split anywhere. The sequences are those of VT100, xterm and
// rxvt (ctlseqs of xterm; rxvtRef).
type decoder struct {
	buf      []byte
	paste    []byte
	inPaste  bool
	inString bool // in a control string, which is dropped
	cut      bool // more came than is kept
	silent   bool // nothing came for a while, in a paste
}

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

func (d *decoder) feed(p []byte) {
	if d.inPaste && d.silent && len(bytes.Trim(p, "\x03")) == 0 {
		// The end mark was lost. Who sees nothing happen presses Ctrl-C.
		*d = decoder{}
	}
	d.silent = false
	d.buf = append(d.buf, p...)
}

// undecided says that more bytes may change what the ones at hand mean.
func (d *decoder) undecided() bool {
	return !d.silent && (len(d.buf) > 0 || d.inPaste || d.inString)
}

// next returns the next key. flush says that no more bytes came for a while, so
// that a lone ESC is the Escape key.
func (d *decoder) next(flush bool) (Key, bool) {
	for {
		if d.inPaste {
			d.silent = d.silent || flush
			return d.nextPaste()
		}
		if d.inString {
			d.skipString(flush)
		}
		if d.inString || len(d.buf) == 0 {
			return Key{}, false
		}
		k, n := decode(d.buf, flush)
		if n == 0 {
			return Key{}, false
		}
		d.inPaste = bytes.HasPrefix(d.buf, pasteStart)
		d.inString = k.Code == codeString
		d.buf = append(d.buf[:0], d.buf[n:]...)
		if !d.inPaste && !d.inString && k.Code != codeUnknown {
			return k, true
		}
	}
}

// skipString drops what is at hand of a control string. It ends with BEL or
// ST, is broken off by any other control character, and when nothing more comes.
func (d *decoder) skipString(flush bool) {
	n := 0
	for n < len(d.buf) && isPlain(d.buf[n]) {
		n++
	}
	rest := d.buf[n:]
	switch {
	case len(rest) == 0:
		d.inString = !flush
	case rest[0] == 7:
		n++
		d.inString = false
	case rest[0] == 0x1b && len(rest) == 1 && !flush: // of ST the first half
	case bytes.HasPrefix(rest, []byte("\x1b\\")):
		n += 2
		d.inString = false
	default:
		d.inString = false
	}
	d.buf = append(d.buf[:0], d.buf[n:]...)
}

// nextPaste collects until the end mark, which may come in pieces.
func (d *decoder) nextPaste() (Key, bool) {
	i := bytes.Index(d.buf, pasteEnd)
	n := i
	if i < 0 {
		n = max(len(d.buf)-len(pasteEnd)+1, 0)
	}
	room := min(maxMessage-len(d.paste), n)
	d.paste = append(d.paste, d.buf[:room]...)
	d.cut = d.cut || room < n
	if i < 0 {
		d.buf = append(d.buf[:0], d.buf[n:]...)
		return Key{}, false
	}
	k := Key{Code: CodePaste, Text: cleanText(d.paste), Cut: d.cut}
	*d = decoder{buf: append(d.buf[:0], d.buf[i+len(pasteEnd):]...)}
	return k, true
}

// cleanText makes bytes text that can be shown and edited: line ends become
// line feeds, control characters go, what is not UTF-8 becomes U+FFFD.
func cleanText(b []byte) string {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == '\r':
			if len(b) == 1 || b[1] != '\n' {
				out = append(out, '\n')
			}
		case r == '\n' || r == '\t' || isTypable(r):
			out = utf8.AppendRune(out, r)
		}
		b = b[n:]
	}
	return string(out)
}

// isTypable says that a character may stand in the text as itself.
func isTypable(r rune) bool {
	return !isControl(r) && (r < pasteRune || r >= pasteRune+maxPastes)
}

// decode reads one key from b, which is not empty; n is 0 when the key is not
// whole.
func decode(b []byte, flush bool) (k Key, n int) {
	if b[0] != 0x1b {
		return decodeText(b, flush)
	}
	if len(b) == 1 {
		return Key{Code: CodeEscape}, flushed(1, flush)
	}
	switch b[1] {
	case '[':
		return decodeCSI(b, flush)
	case 'O':
		return decodeSS3(b, flush)
	case 0x1b: // rxvt: an Alt key that has a sequence of its own
		if k, n = decode(b[1:], flush); n > 1 {
			k.Alt = true
			return k, n + 1
		}
		return Key{Code: CodeEscape}, n
	}
	if beginsString(b[1]) { // the terminal replies to somebody
		switch {
		case len(b) == 2 && !flush:
			return Key{}, 0
		case len(b) > 2 && isPlain(b[2]):
			return Key{Code: codeString}, 2
		}
	}
	if b[1] < 0x80 {
		k, n = decodeText(b[1:2], true)
	} else {
		r, size := utf8.DecodeRune(b[1:])
		k, n = Key{Code: CodeText, Text: string(r)}, size
		if !utf8.FullRune(b[1:]) && !flush {
			return Key{}, 0
		}
	}
	k.Alt = true
	return k, n + 1
}

// beginsString says that ESC and c begin a control string: OSC, DCS, SOS, PM or
// APC of ECMA-48. Alone they are an Alt key.
func beginsString(c byte) bool { return strings.IndexByte("]PX^_", c) >= 0 }

// isPlain says that a byte is no control character, or part of a longer one.
func isPlain(c byte) bool { return c >= 0x20 && c != 0x7f }

// flushed is n if what is at hand has to do.
func flushed(n int, flush bool) int {
	if flush {
		return n
	}
	return 0
}

// decodeText reads a control character, or all plain characters at hand.
func decodeText(b []byte, flush bool) (Key, int) {
	if !isPlain(b[0]) {
		return Key{Code: Code(b[0])}, 1
	}
	n := 0
	for n < len(b) && isPlain(b[n]) {
		if !utf8.FullRune(b[n:]) && !flush {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	if text := cleanText(b[:n]); text != "" {
		return Key{Code: CodeText, Text: text}, n
	}
	return Key{Code: codeUnknown}, n
}

// maxSequence is the longest escape sequence that is waited for.
const maxSequence = 1 << 10

// decodeSS3 reads ESC O modifiers final. Without a final it is Alt-O.
func decodeSS3(b []byte, flush bool) (Key, int) {
	i := 2
	for i < len(b) && i < maxSequence && (b[i] == ';' || b[i] >= '0' && b[i] <= '9') {
		i++
	}
	switch {
	case i == len(b) && !flush:
		return Key{}, 0
	case i == len(b) || b[i] >= 0x80 || !isPlain(b[i]):
		return Key{Code: CodeText, Text: "O", Alt: true}, 2
	case b[i] == 'M': // Enter of the keypad
		nums, _ := numbers(b[2:i])
		return codedKey('\r', max(nums[0], nums[1])), i + 1
	case b[i] == 'w': // PuTTY, in its rxvt mode
		return Key{Code: CodeEnd}, i + 1
	}
	return finalKey(b[i], b[2:i]), i + 1
}

// decodeCSI reads ESC [ parameters final. Sequences that no key has are
// swallowed whole.
func decodeCSI(b []byte, flush bool) (Key, int) {
	i := 2
	if i < len(b) && b[i] == '[' { // Linux console: ESC [ [ A
		if len(b) > 3 {
			return Key{Code: codeUnknown}, 4
		}
		return Key{Code: codeUnknown}, flushed(len(b), flush)
	}
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		if b[i] == '$' && len(bytes.Trim(b[2:i], "0123456789")) == 0 {
			break // rxvt ends some keys with it
		}
		i++
	}
	switch {
	case i < len(b) && b[i] < 0x20: // broken off by another key
		return Key{Code: codeUnknown}, i
	case i == 2 && i < len(b) && b[i] == 'M': // X10 mouse: a button and a place, each a byte
		for i++; i < len(b) && i < 6 && isPlain(b[i]); i++ {
		}
		if i == len(b) && i < 6 {
			return Key{Code: codeUnknown}, flushed(i, flush)
		}
		return Key{Code: codeUnknown}, i
	case i == 2 && i < len(b) && b[i] == 'P': // Delete of st
		return Key{Code: CodeDelete}, i + 1
	case i < len(b):
		return finalKey(b[i], b[2:i]), i + 1
	case i > maxSequence:
		return Key{Code: codeUnknown}, i
	}
	return Key{Code: codeUnknown}, flushed(i, flush)
}

// finalKey names a key by the end of its sequence and its parameters.
func finalKey(final byte, params []byte) Key {
	nums, released := numbers(params)
	k := Key{Code: codeUnknown}
	m := nums[1]
	if m == 0 && final >= 'A' && final <= 'Z' { // old xterm: the modifiers alone
		m = nums[0]
	}
	if m > 1 {
		k.Alt = (m-1)&(2|8) != 0 // 8 is Meta of xterm and iTerm2
		k.Ctrl = (m-1)&4 != 0
	}
	if released {
		return Key{Code: codeUnknown}
	}
	switch final {
	case 'A', 'B', 'C', 'D':
		k.Code = CodeUp + Code(final-'A')
	case 'a', 'b', 'c', 'd': // rxvt
		k.Code, k.Ctrl = CodeUp+Code(final-'a'), true
	case 'H':
		k.Code = CodeHome
	case 'F':
		k.Code = CodeEnd
	case '~', '^', '$', '@':
		if nums[0] == 27 { // xterm's modifyOtherKeys: ESC [ 27 ; modifiers ; code ~
			return codedKey(nums[2], nums[1])
		}
		k.Ctrl = k.Ctrl || final == '^'
		switch nums[0] {
		case 1, 7:
			k.Code = CodeHome
		case 4, 8:
			k.Code = CodeEnd
		case 3:
			return deleteKey(k)
		case 5:
			k.Code = CodePageUp
		case 6:
			k.Code = CodePageDown
		}
	case 'u': // fixterms: ESC [ code ; modifiers u, in kitty's protocol code:shifted
		if nums[3] > 0 && max(nums[1]-1, 0)&1 != 0 {
			nums[0] = nums[3]
		}
		return codedKey(nums[0], nums[1])
	}
	return k
}

// deleteKey is Delete: with Alt or Ctrl it takes out a word, as Alt-D does.
func deleteKey(k Key) Key {
	if k.Alt || k.Ctrl {
		return Key{Code: CodeText, Text: "d", Alt: true}
	}
	k.Code = CodeDelete
	return k
}

// The keys of the keypad in kitty's protocol: those that have a character, and
// those behind them that have none (Insert is not used).
const (
	keypad     = 57399
	keypadText = "0123456789./*-+\r=,"
)

func keypadKey(k Key, i int) Key {
	codes := [...]Code{CodeLeft, CodeRight, CodeUp, CodeDown, CodePageUp, CodePageDown, CodeHome, CodeEnd, codeUnknown, CodeDelete}
	if i < len(codes) {
		k.Code = codes[i]
	}
	if k.Code == CodeDelete {
		return deleteKey(k)
	}
	return k
}

// codedKey is a key that comes as the number of its character.
func codedKey(code, modifiers int) Key {
	r, m := rune(code), max(modifiers-1, 0)
	if i := code - keypad; i >= 0 && i < len(keypadText) {
		r = rune(keypadText[i])
	}
	if m&1 != 0 && r >= 'a' && r <= 'z' {
		r -= 'a' - 'A'
	}
	k := Key{Code: codeUnknown, Alt: m&2 != 0}
	switch {
	case r == '\r': // Shift-Enter is as good as Alt-Enter
		return Key{Code: '\r', Alt: m&3 != 0}
	case r == '\t' || r == 0x7f || r == 0x1b && m == 0:
		k.Code = Code(r)
		switch r {
		case 0x1b:
			k.Code = CodeEscape
		case 0x7f:
			k.Alt = m&6 != 0
		}
	case m&4 != 0 && r >= '@' && r < 0x7f:
		k.Code = ctrl(byte(r))
	case r >= 0xe000 && r <= 0xf8ff: // kitty: keys that have no character
		k.Ctrl = m&4 != 0
		return keypadKey(k, code-keypad-len(keypadText))
	case r >= 0x20 && utf8.ValidRune(r) && isTypable(r):
		k.Code, k.Text = CodeText, string(r)
	}
	return k
}

// numbers are the first three parameters, 0 for one that is not there, behind
// them the second part of the first one; and whether they tell of a key that was let go, which is no key press (kitty's
// keyboard protocol: the event is a part of the second one, behind a colon).
func numbers(params []byte) (out [4]int, released bool) {
	i, sub, event := 0, 0, 0
	for _, c := range params {
		n := &out[i]
		switch {
		case c == ';':
			sub = 0
			if i++; i == 3 {
				return out, event == 3
			}
			continue
		case c == ':':
			sub++
			continue
		case sub == 1 && i == 0:
			n = &out[3]
		case sub == 1 && i == 1:
			n = &event
		case sub > 0:
			continue
		}
		if c >= '0' && c <= '9' && *n < 1<<20 {
			*n = *n*10 + int(c-'0')
		}
	}
	return out, event == 3
}
