package dangercheck

import "strings"

// through is what a filter makes of a text that is told, where its arguments
// leave the text as it is; unknown where they do not. Lines that a filter may
// leave out are taken for left in.
func (k *call) through() string {
	ops := k.operands("emABC")
	first, n := textAt(ops, 0), len(k.words)
	whole := n == 0 // tac, dd
	switch k.name {
	case "tr":
		if n == 2 {
			if first = k.words[0]; first == "-d" {
				first = k.words[1]
			}
			whole = !strings.ContainsAny(k.in.text, unescaped(first))
		}
	case "sed":
		if n == 1 && len(first) > 3 {
			s := strings.Split(first, first[1:2])
			whole = s[0] == "s" && len(s) == 4 && s[3] != "e" && !strings.ContainsAny(s[1], special) && !strings.Contains(k.in.text, s[1]) ||
				first[len(first)-1] == 'd' && !strings.ContainsAny(first, ";{")
		}
	case "awk":
		whole = hasWord("1 {print}", first)
	case "grep":
		whole = len(ops) == 1 && !k.short("clLqofr") && !(k.short("v") && strings.Contains(k.in.text, first))
	}
	if whole {
		return k.in.text
	}
	return unknown
}

// special are the characters by which a regular expression is more than the
// text that it is written as.
const special = `\.[]*^$+?(){}|`
