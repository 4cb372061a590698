package tools

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// entities are the named character references that pages use, each with its
// character, sorted: those of HTML 4 and some of HTML 5, which has 2,231.
var entities = []string{
	"AElig Æ", "Aacute Á", "Acirc Â", "Agrave À", "Alpha Α", "Aogon Ą", "Aring Å", "Atilde Ã", "Auml Ä", "Beta Β", "Cacute Ć",
	"Ccaron Č", "Ccedil Ç", "Chi Χ", "Dagger ‡", "Delta Δ", "Dstrok Đ", "ETH Ð", "Eacute É", "Ecaron Ě", "Ecirc Ê", "Egrave È",
	"Eogon Ę", "Epsilon Ε", "Eta Η", "Euml Ë", "Gamma Γ", "Gbreve Ğ", "Hat ^", "Iacute Í", "Icirc Î", "Igrave Ì", "Iota Ι", "Iuml Ï",
	"Kappa Κ", "Lambda Λ", "Lstrok Ł", "Mu Μ", "NewLine \n", "Ntilde Ñ", "Nu Ν", "OElig Œ", "Oacute Ó", "Ocirc Ô", "Odblac Ő",
	"Ograve Ò", "Omega Ω", "Omicron Ο", "Oslash Ø", "Otilde Õ", "Ouml Ö", "Phi Φ", "Pi Π", "Prime ″", "Psi Ψ", "Rcaron Ř", "Rho Ρ",
	"Scaron Š", "Scedil Ş", "Sigma Σ", "THORN Þ", "Tab \t", "Tau Τ", "Theta Θ", "Uacute Ú", "Ucirc Û", "Udblac Ű", "Ugrave Ù",
	"Upsilon Υ", "Uring Ů", "Uuml Ü", "Xi Ξ", "Yacute Ý", "Yuml Ÿ", "Zcaron Ž", "Zeta Ζ", "aacute á", "acirc â", "acute ´",
	"aelig æ", "agrave à", "alefsym ℵ", "alpha α", "amp &", "and ∧", "ang ∠", "aogon ą", "apos '", "aring å", "ast *", "asymp ≈",
	"atilde ã", "auml ä", "bdquo „", "beta β", "brvbar ¦", "bsol \\", "bull •", "cacute ć", "cap ∩", "ccaron č", "ccedil ç",
	"cedil ¸", "cent ¢", "check ✓", "chi χ", "circ ˆ", "clubs ♣", "colon :", "comma ,", "commat @", "cong ≅", "copy ©", "crarr ↵",
	"cross ✗", "cup ∪", "curren ¤", "dArr ⇓", "dagger †", "darr ↓", "dash \u2010", "deg °", "delta δ", "diams ♦", "divide ÷",
	"dollar $", "dstrok đ", "eacute é", "ecaron ě", "ecirc ê", "egrave è", "empty ∅", "emsp \u2003", "ensp \u2002", "eogon ę",
	"epsilon ε", "equals =", "equiv ≡", "eta η", "eth ð", "euml ë", "euro €", "excl !", "exist ∃", "fnof ƒ", "forall ∀", "frac12 ½",
	"frac14 ¼", "frac34 ¾", "frasl ⁄", "gamma γ", "gbreve ğ", "ge ≥", "grave `", "gt >", "hArr ⇔", "harr ↔", "hearts ♥", "hellip …",
	"horbar ―", "hyphen \u2010", "iacute í", "icirc î", "iexcl ¡", "igrave ì", "image ℑ", "infin ∞", "inodot ı", "int ∫", "iota ι",
	"iquest ¿", "isin ∈", "iuml ï", "kappa κ", "lArr ⇐", "lambda λ", "lang ⟨", "laquo «", "larr ←", "lbrace {", "lbrack [",
	"lceil ⌈", "ldquo “", "le ≤", "lfloor ⌊", "lowast ∗", "lowbar _", "loz ◊", "lpar (", "lrm \u200e", "lsaquo ‹", "lsquo ‘",
	"lstrok ł", "lt <", "macr ¯", "mdash —", "micro µ", "middot ·", "minus −", "mu μ", "nabla ∇", "nacute ń", "nbsp \u00a0",
	"ndash –", "ne ≠", "ni ∋", "not ¬", "notin ∉", "nsub ⊄", "ntilde ñ", "nu ν", "num #", "oacute ó", "ocirc ô", "odblac ő",
	"oelig œ", "ograve ò", "oline ‾", "omega ω", "omicron ο", "oplus ⊕", "or ∨", "ordf ª", "ordm º", "oslash ø", "otilde õ",
	"otimes ⊗", "ouml ö", "para ¶", "part ∂", "percnt %", "period .", "permil ‰", "perp ⊥", "phi φ", "phone ☎", "pi π", "piv ϖ",
	"plus +", "plusmn ±", "pound £", "prime ′", "prod ∏", "prop ∝", "psi ψ", "quest ?", "quot \"", "rArr ⇒", "radic √", "rang ⟩",
	"raquo »", "rarr →", "rbrace }", "rbrack ]", "rcaron ř", "rceil ⌉", "rdquo ”", "real ℜ", "reg ®", "rfloor ⌋", "rho ρ",
	"rlm \u200f", "rpar )", "rsaquo ›", "rsquo ’", "sacute ś", "sbquo ‚", "scaron š", "scedil ş", "sdot ⋅", "sect §", "semi ;",
	"shy \u00ad", "sigma σ", "sigmaf ς", "sim ∼", "sol /", "spades ♠", "star ☆", "starf ★", "sub ⊂", "sube ⊆", "sum ∑", "sup ⊃",
	"sup1 ¹", "sup2 ²", "sup3 ³", "supe ⊇", "szlig ß", "tau τ", "there4 ∴", "theta θ", "thetasym ϑ", "thinsp \u2009", "thorn þ",
	"tilde ˜", "times ×", "trade ™", "uArr ⇑", "uacute ú", "uarr ↑", "ucirc û", "udblac ű", "ugrave ù", "uml ¨", "upsih ϒ",
	"upsilon υ", "uring ů", "uuml ü", "verbar |", "vert |", "weierp ℘", "xi ξ", "yacute ý", "yen ¥", "yuml ÿ", "zacute ź",
	"zcaron ž", "zdot ż", "zeta ζ", "zwj \u200d", "zwnj \u200c",
}

// maxName is the length of the longest reference that is looked up.
const maxName = 32

// entity is the character of a name.
func entity(name string) (r rune, ok bool) {
	i, ok := slices.BinarySearchFunc(entities, name, func(e, name string) int {
		known, _, _ := strings.Cut(e, " ")
		return strings.Compare(known, name)
	})
	if !ok {
		return 0, false
	}
	r, _ = utf8.DecodeRuneInString(entities[i][len(name)+1:])
	return r, true
}

// isOld says that the reference of a character may stand without a semicolon.
func isOld(r rune) bool { return r >= 0xa0 && r <= 0xff || strings.ContainsRune(`&<>"`, r) }

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
	r, ok := entity(s[1:n])
	closed := n < len(s) && s[n] == ';'
	if !ok || !closed && (!isOld(r) || n < len(s) && s[n] == '=') { // as in ?a=1&copy=2
		return "", 0
	}
	if closed {
		n++
	}
	return string(r), n
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
