package provider

import "strings"

// outlet lets the text of a reply out piece by piece and keeps the whole. It
// holds back what may become a secret, to mask it, and what may be a call
// written as text, which is no text for a person.
type outlet struct {
	secrets secrets
	calls   bool // look for calls written as text
	emit    func(string)

	all   strings.Builder // everything, as the server sent it
	given int             // how much of it is out
	held  bool            // what is not out begins with markup and waits for the end
	fence fence           // of what is out
}

// write takes a piece in and lets out what is certain.
func (o *outlet) write(s string) {
	o.all.WriteString(s)
	for !o.held && o.given < o.all.Len() {
		rest := o.all.String()[o.given:]
		n, opens := len(rest), false
		if o.calls {
			n, opens = findMarkup(rest, o.given == 0)
		}
		o.release(min(n, len(rest)-o.secrets.pending(rest)))
		if !opens {
			return
		}
		if inCode(&o.fence, o.all.String()[:o.given]) {
			o.release(1) // an example, shown as such
			continue
		}
		o.held = true
	}
}

// inCode says whether what follows before is shown as code.
func inCode(f *fence, before string) bool {
	return f.open() || strings.HasSuffix(before, "`")
}

// release lets the next n bytes out.
func (o *outlet) release(n int) {
	if n <= 0 {
		return
	}
	piece := o.all.String()[o.given : o.given+n]
	o.given += n
	o.fence.feed(piece)
	o.emit(o.secrets.maskText(piece))
}

// minPart is the length from which the beginning of a secret is masked where the
// text ends with it: what is shorter may be a word, or tells nothing.
const minPart = 8

// flush lets out what was held back. Of a secret that is cut off there nothing
// comes to light.
func (o *outlet) flush() {
	o.held = false
	if n := o.secrets.pending(o.all.String()); n >= minPart && n <= o.all.Len()-o.given {
		text := o.all.String()
		o.all.Reset()
		o.all.WriteString(text[:len(text)-n] + masked)
	}
	o.release(o.all.Len() - o.given)
}

// text is the whole text, masked.
func (o *outlet) text() string { return o.secrets.maskText(o.all.String()) }

// recover takes calls written as text off the end of the text, if that is what
// was held back; known tells the tools that were sent. Only the end counts, no
// code fence, and only whole calls of known tools: anything else is text.
func (o *outlet) recover(known map[string]string) []piece {
	if !o.held {
		return nil
	}
	all := o.all.String()
	f := o.fence
	for at := o.given; at < len(all); {
		if !inCode(&f, all[:at]) {
			if found, ok := parseTextCalls(all[at:], known); ok {
				text := strings.TrimRight(all[:at], " \t\r\n")
				o.release(len(text) - o.given)
				o.all.Reset()
				o.all.WriteString(text)
				o.given, o.held = len(text), false
				return found
			}
		}
		n, opens := findMarkup(all[at+1:], false)
		if !opens {
			break
		}
		f.feed(all[at : at+1+n])
		at += 1 + n
	}
	return nil
}
