// Package hostname gives hosts their one spelling, so that what is dialled and
// what rules name can be compared.
package hostname

import (
	"fmt"
	"net/netip"
	"strings"
)

// Canonical is the one spelling of a host: ASCII, in small letters, an address
// as netip writes it, without brackets, and IPv4 as such.
func Canonical(host string) (string, error) {
	name, err := ASCII(host)
	if err != nil {
		return "", err
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return a.Unmap().String(), nil
	}
	return strings.ToLower(name), nil
}

// ASCII is a host as DNS and TLS have it: names in other scripts are lower
// cased and encoded label by label (RFC 3492), without the normalisation that a
// browser does first. A host that holds what separates the parts of a request
// or of a URL is refused.
func ASCII(host string) (string, error) {
	out := host
	if !isASCII(host) {
		out = ""
		dots := strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")
		for rest, more := dots.Replace(strings.ToLower(host)), true; more; {
			var label string
			label, rest, more = strings.Cut(rest, ".")
			if !isASCII(label) {
				label = "xn--" + punycode([]rune(label))
			}
			if len(label) > 63 {
				return "", notHost(host)
			}
			if out += label; more {
				out += "."
			}
		}
	}
	for i := 0; i < len(out); i++ {
		if c := out[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"/?#@<>\[]`, c) >= 0 {
			return "", notHost(host)
		}
	}
	if out == "" || len(out) > 255 {
		return "", notHost(host)
	}
	return out, nil
}

func notHost(host string) error {
	return fmt.Errorf("%q is no name of a host", host[:min(len(host), 80)])
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// The parameters of RFC 3492, section 5.
const (
	punyBase = 36
	punyMin  = 1
	punyMax  = 26
)

// punycode encodes a label. Of one that DNS does not allow only the beginning
// is, which is too long still.
func punycode(label []rune) string {
	label = label[:min(len(label), 64)]
	var out []byte
	for _, r := range label {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	done := basic
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for done < len(label) {
		next := rune(0x7fffffff)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r == n {
				out = appendPuny(out, delta, bias)
				bias = adaptPuny(delta, done+1, done == basic)
				delta = 0
				done++
			}
		}
		delta++
		n++
	}
	return string(out)
}

// appendPuny writes a number in digits whose weight depends on bias.
func appendPuny(out []byte, q, bias int) []byte {
	for k := punyBase; ; k += punyBase {
		t := min(max(k-bias, punyMin), punyMax)
		if q < t {
			return append(out, punyDigit(q))
		}
		out = append(out, punyDigit(t+(q-t)%(punyBase-t)))
		q = (q - t) / (punyBase - t)
	}
}

func punyDigit(n int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[n] }

func adaptPuny(delta, points int, first bool) int {
	if first {
		delta /= 700
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (punyBase-punyMin)*punyMax/2 {
		delta /= punyBase - punyMin
		k += punyBase
	}
	return k + (punyBase-punyMin+1)*delta/(delta+38)
}
