package hostname

import (
	"strings"
	"testing"
)

func TestASCII(t *testing.T) {
	for host, want := range map[string]string{
		"example.org":                   "example.org",
		"Example.ORG.":                  "Example.ORG.",
		"a_b":                           "a_b",
		"::1":                           "::1",
		"fe80::1%eth0":                  "fe80::1%eth0",
		"bücher.example":                "xn--bcher-kva.example",
		"BÜCHER.example":                "xn--bcher-kva.example",
		"www.straße.de":                 "www.xn--strae-oqa.de",
		"例え。テスト":                        "xn--r8jz45g.xn--zckzah",
		"пример.испытание":              "xn--e1afmkfd.xn--80akhbyknj4f",
		"εχαμπλε.gr":                    "xn--mxahbxey0c.gr",
		"他们为什么不说中文.cn":                  "xn--ihqwcrb4cv8a8dqg056pqjye.cn",
		"3年b組金八先生.jp":                   "xn--3b-ww4c5e180e575a65lsy2b.jp",
		"安室奈美恵-with-super-monkeys.jp":   "xn---with-super-monkeys-pc58ag80a8qai00g7n9n.jp",
		"🍓.example":                     "xn--ti8h.example",
		"":                              "",
		"a b":                           "",
		"a\r\nb":                        "",
		"a\x00b":                        "",
		"a/b":                           "",
		"a@b":                           "",
		"a\x7f":                         "",
		"ü b":                           "",
		"a\u00a0b/ü":                    "",
		strings.Repeat("a.", 200):       "",
		strings.Repeat("\u4e2d", 10000): "",
	} {
		got, err := ASCII(host)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ASCII(%.40q) = %q, %v, want %q", host, got, err, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for host, want := range map[string]string{
		"Example.ORG": "example.org", "BÜCHER.example": "xn--bcher-kva.example", "127.0.0.1": "127.0.0.1", "127。0。0。1": "127.0.0.1", "127．0．0．1": "127.0.0.1", "127｡0｡0｡1": "127.0.0.1",
		"::ffff:127.0.0.1": "127.0.0.1", "::FFFF:7f00:1": "127.0.0.1", "0:0:0:0:0:0:0:1": "::1", "FE80::1%eth0": "fe80::1%eth0", "*.Bücher.de": "*.xn--bcher-kva.de", "": "", "a b": "",
	} {
		if got, err := Canonical(host); got != want || (err == nil) != (want != "") {
			t.Errorf("Canonical(%q) = %q, %v, want %q", host, got, err, want)
		}
	}
}
