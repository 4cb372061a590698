package provider

import "strings"

// masked stands for a secret wherever one would leave the package.
const masked = "***"

// secrets are the texts that no error, trace or reply may show: the key, the
// values of extra headers, a password in the base URL.
type secrets []string

// isStandIn says whether a secret is one of the words that are given in place
// of a key where none is needed ("ollama", "none"), or as short as no key is.
// Those are masked where they stand alone, and not in the text of a reply, where
// a reader would miss them.
func isStandIn(secret string) bool {
	return len(secret) < 6 || len(secret) < 10 && strings.Trim(secret, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// mask puts *** for every secret in s, also where its characters are escaped
// for JSON or a URL, some or all of them. It does not find one that was cut,
// hashed or coded otherwise.
func (x secrets) mask(s string) string {
	for _, secret := range x {
		s = maskOne(s, secret)
	}
	return s
}

func maskOne(s, secret string) string {
	if !mayHold(s, secret) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n, whole := matchSecret(s[i:], secret)
		if whole && (!isStandIn(secret) || alone(s, i, i+n)) {
			b.WriteString(masked)
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// mayHold is a quick test that spares the slow one nearly always.
func mayHold(s, secret string) bool {
	return strings.Contains(s, secret) || strings.ContainsAny(s, `\%`)
}

// alone says whether s[i:j] has no letter or digit for a neighbour.
func alone(s string, i, j int) bool {
	return (i == 0 || !isWord(s[i-1])) && (j == len(s) || !isWord(s[j]))
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pending is the number of bytes at the end of s that may be the beginning of
// a secret: they must wait for what follows.
func (x secrets) pending(s string) (most int) {
	for _, secret := range x {
		if isStandIn(secret) {
			continue
		}
		for i := max(0, len(s)-6*len(secret)); i < len(s)-most; i++ {
			if n, whole := matchSecret(s[i:], secret); !whole && n == len(s)-i {
				most = n
			}
		}
	}
	return most
}

// clip cuts s to n bytes and masks it. Of a secret that is cut nothing is left.
func (x secrets) clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
		s = s[:n-x.pending(s)]
	}
	return x.mask(s)
}

// maskText is mask for the text of a reply, without the stand-ins.
func (x secrets) maskText(s string) string {
	for _, secret := range x {
		if !isStandIn(secret) {
			s = maskOne(s, secret)
		}
	}
	return s
}

// matchSecret says how many bytes at the start of s agree with secret, and
// whether that is the whole of it.
func matchSecret(s, secret string) (n int, whole bool) {
	for k := 0; k < len(secret); k++ {
		if n == len(s) {
			return n, false
		}
		m := matchByte(s[n:], secret[k])
		if m == 0 {
			return 0, false
		}
		if n += m; n > len(s) {
			return len(s), false
		}
	}
	return n, true
}

// matchByte says how many bytes at the start of s stand for c: 1 for c itself,
// more for an escape, also for one that was escaped again, 0 for none. More
// than len(s) means that s ends within what may be an escape.
func matchByte(s string, c byte) int {
	if n := matchPercent(s, c); n > 0 {
		return n
	}
	k := 0
	for k < len(s) && s[k] == '\\' {
		k++
	}
	rest := s[k:]
	switch {
	case k > 0 && strings.HasPrefix(rest, "u00") && len(rest) >= 5 && hexByte(rest[3:]) == int(c):
		return k + 5
	case k > 0 && c == '\\':
		return k
	case rest == "":
		return len(s) + 1
	case rest[0] == c:
		return k + 1
	case k > 0 && len(rest) < 5 && strings.HasPrefix("u00", rest[:min(len(rest), 3)]):
		return len(s) + 1
	}
	return 0
}

// matchPercent is matchByte for the escape of URLs, in which the percent sign
// of an escape may itself be escaped: %2F, %252F.
func matchPercent(s string, c byte) int {
	if s == "" || s[0] != '%' {
		return 0
	}
	n := 0
	for i := 1; ; i += 2 {
		if len(s) < i+2 {
			if n == 0 && (c != '%' || len(s) > 1) && isHex(s[i:]) {
				return len(s) + 1
			}
			return n
		}
		if hexByte(s[i:]) == int(c) {
			n = i + 2
		}
		if s[i:i+2] != "25" {
			return n
		}
	}
}

func hexByte(s string) int { return unhex(s[0])<<4 | unhex(s[1]) }

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if unhex(s[i]) > 15 {
			return false
		}
	}
	return true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 1 << 8
}
