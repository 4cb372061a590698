package tools

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// entities are the named character references that pages use, a name and its
// character at a time: those of HTML 4 and some of HTML 5, which has 2,231.
// Those up to yuml are old and may stand without a semicolon.
const entities = " " +
	"nbsp \u00a0 iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ shy \u00ad reg ® " +
	"macr ¯ deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼ frac12 ½ " +
	"frac34 ¾ iquest ¿ Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë " +
	"Igrave Ì Iacute Í Icirc Î Iuml Ï ETH Ð Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö times × Oslash Ø Ugrave Ù " +
	"Uacute Ú Ucirc Û Uuml Ü Yacute Ý THORN Þ szlig ß agrave à aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç " +
	"egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï eth ð ntilde ñ ograve ò oacute ó ocirc ô otilde õ " +
	"ouml ö divide ÷ oslash ø ugrave ù uacute ú ucirc û uuml ü yacute ý thorn þ yuml ÿ fnof ƒ Alpha Α Beta Β Gamma Γ " +
	"Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ " +
	"Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ " +
	"lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω thetasym ϑ " +
	"upsih ϒ piv ϖ bull • hellip … prime ′ Prime ″ oline ‾ frasl ⁄ weierp ℘ image ℑ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ " +
	"rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ " +
	"notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ " +
	"cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ " +
	"lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ quot \" amp & lt < gt > OElig Œ oelig œ " +
	"Scaron Š scaron š Yuml Ÿ circ ˆ tilde ˜ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d lrm \u200e " +
	"rlm \u200f ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ permil ‰ lsaquo ‹ " +
	"rsaquo › euro € apos ' check ✓ cross ✗ star ☆ starf ★ phone ☎ lbrace { rbrace } lbrack [ rbrack ] lpar ( rpar ) num # " +
	"excl ! quest ? period . comma , colon : semi ; sol / bsol \\ lowbar _ grave ` ast * plus + equals = percnt % dollar $ " +
	"commat @ vert | verbar | Hat ^ Tab \t NewLine \n hyphen \u2010 dash \u2010 horbar ― ccaron č Ccaron Č cacute ć " +
	"Cacute Ć scedil ş Scedil Ş zcaron ž Zcaron Ž lstrok ł Lstrok Ł aogon ą Aogon Ą eogon ę Eogon Ę sacute ś nacute ń " +
	"zacute ź zdot ż gbreve ğ Gbreve Ğ inodot ı rcaron ř Rcaron Ř ecaron ě Ecaron Ě uring ů Uring Ů dstrok đ Dstrok Đ " +
	"odblac ő udblac ű Odblac Ő Udblac Ű "

// maxName is the length of the longest reference that is looked up.
const maxName = 32

// entity is the character of a name. old says that it needs no semicolon.
func entity(name string) (text string, old, ok bool) {
	at := strings.Index(entities, " "+name+" ")
	if at < 0 {
		return "", false, false
	}
	r, n := utf8.DecodeRuneInString(entities[at+len(name)+2:])
	if !strings.HasPrefix(entities[at+len(name)+2+n:], " ") {
		return "", false, false // the name is a character of the table
	}
	return string(r), at <= strings.Index(entities, " yuml ") || name == "amp" || name == "lt" || name == "gt" || name == "quot", true
}

// unescapeHTML decodes character references. What is none, or not known, stays
// as it is written.
func unescapeHTML(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var out strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '&') {
		out.WriteString(s[:i])
		s = s[i:]
		text, n := reference(s)
		if n == 0 {
			text, n = "&", 1
		}
		out.WriteString(text)
		s = s[n:]
	}
	out.WriteString(s)
	return out.String()
}

// reference decodes the reference at the beginning of s and returns its length,
// 0 where there is none.
func reference(s string) (string, int) {
	if digits, ok := strings.CutPrefix(s, "&#"); ok {
		text, n := numeric(digits)
		if n == 0 {
			return "", 0
		}
		return text, n + len("&#")
	}
	n := 1
	for n < min(len(s), maxName) && isAlphanumeric(s[n]) {
		n++
	}
	text, old, ok := entity(s[1:n])
	closed := n < len(s) && s[n] == ';'
	if !ok || !closed && (!old || n < len(s) && s[n] == '=') { // as in ?a=1&copy=2
		return "", 0
	}
	return text, n + b2i(closed)
}

// numeric decodes the number at the beginning of s and returns its length with
// the semicolon. Numbers of control characters are what authors meant by them,
// windows-1252 (WHATWG HTML, 13.2.5.80).
func numeric(s string) (string, int) {
	base, start, digits := 10, 0, "0123456789"
	if s != "" && s[0]|0x20 == 'x' {
		base, start, digits = 16, 1, "0123456789abcdefABCDEF"
	}
	n := start
	for n < min(len(s), maxName) && strings.IndexByte(digits, s[n]) >= 0 {
		n++
	}
	code, err := strconv.ParseUint(s[start:n], base, 32)
	if err != nil && code == 0 {
		return "", 0
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	switch {
	case code >= 0x80 && code < 0xa0:
		return string([]rune(cp1252)[code-0x80]), n
	case code == 0 || code > utf8.MaxRune || !utf8.ValidRune(rune(code)):
		return "\ufffd", n
	}
	return string(rune(code)), n
}

func isAlphanumeric(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
