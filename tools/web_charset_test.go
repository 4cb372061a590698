package tools

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecodeText(t *testing.T) {
	tests := []struct{ body, contentType, want string }{
		{"caf\xe9", "text/html; charset=iso-8859-1", "café"},
		{"caf\xe9", `text/html; charset="ISO-8859-1"`, "café"},
		{"caf\xe9", "text/html;charset = 'latin1' ; x=y", "café"},
		{"caf\xe9 \x80", "text/html; charset=latin1", "café €"},
		{"\x93x\x94 \x80 \x85", "text/html; charset=Windows-1252", "“x” € …"},
		{"\x81\x8d", "text/html; charset=cp1252", "\u0081\u008d"},
		{"caf\xe9", "text/plain; charset=us-ascii", "café"},
		{"\xa4\xa6\xbd", "text/html; charset=iso-8859-15", "€Šœ"},
		{"caf\xc3\xa9", "text/html; charset=UTF-8", "café"},
		{"caf\xe9x", "text/html; charset=utf8", "caf\ufffdx"},
		{"caf\xc3\xa9", "text/html", "café"},
		{"caf\xe9", "text/html", "café"},
		{"cut \xe2\x82", "text/html; charset=utf-8", "cut \ufffd"},
		{"\xef\xbb\xbfx\xc3\xa9", "text/html; charset=latin1", "xé"},
		{"\xff\xfex\x00\xac\x20", "text/html", "x€"},
		{"\xfe\xff\x00x\x20\xac", "", "x€"},
		{"x\x00\xac\x20y", "text/html; charset=utf-16", "x€"},
		{"\x00x\x20\xac", "text/html; charset=UTF-16BE", "x€"},
		{"\xfe\xff\xd8\x3d\xde\x00\xd8\x00", "", "😀\ufffd"},
		{"<meta charset=windows-1252>\x80", "text/html", "<meta charset=windows-1252>€"},
		{"<META CONTENT='text/html; charset=ISO-8859-15' HTTP-EQUIV=Content-Type>\xa4", "text/html", "<META CONTENT='text/html; charset=ISO-8859-15' HTTP-EQUIV=Content-Type>€"},
		{"<meta charset=latin1>\xc3\xa9", "text/html; charset=utf-8", "<meta charset=latin1>é"},
		{"<meta charset=utf-16>\xc3\xa9", "text/html", "<meta charset=utf-16>é"},
		{"<?xml version='1.0' encoding='iso-8859-15'?>\xa4", "text/xml", "<?xml version='1.0' encoding='iso-8859-15'?>€"},
		{"<!-- <meta charset=gb18030> --><script>'<meta charset=gb18030>'</script>x", "text/html", "<!-- <meta charset=gb18030> --><script>'<meta charset=gb18030>'</script>x"},
		{"<script charset=gb18030 src=x></script>x", "text/html", "<script charset=gb18030 src=x></script>x"},
		{"<meta name=charset content='charset=gb18030'>x", "text/html", "<meta name=charset content='charset=gb18030'>x"},
		{strings.Repeat(" ", 5000) + "<meta charset=gb18030>x", "text/html", strings.Repeat(" ", 5000) + "<meta charset=gb18030>x"},
		{"<meta charset=gb18030>x", "text/plain", "<meta charset=gb18030>x"},
		{"", "text/html; charset=", ""},
		{"", "text/html; xcharset; charset=latin1", ""},
	}
	for _, tt := range tests {
		got, err := decodeText([]byte(tt.body), tt.contentType, tt.contentType != "text/plain")
		if err != nil || got != tt.want {
			t.Errorf("decodeText(%q, %q) = %q, %v, want %q", tt.body, tt.contentType, got, err, tt.want)
		}
	}
}

func TestDecodeTextUnsupported(t *testing.T) {
	for _, tt := range []struct{ body, contentType, name string }{
		{"\x93\xfa", "text/html; charset=Shift_JIS", "shift_jis"},
		{"\xd6\xd0", "text/html; charset=gb18030", "gb18030"},
		{"\xd6\xd0", "text/html; charset=gb2312", "gb2312"},
		{"x", "text/plain; charset=koi8-r", "koi8-r"},
		{"x", "text/html; charset=" + strings.Repeat("é", 100), strings.Repeat("é", 20)},
		{"<meta charset=' EUC-JP '>", "text/html", "euc-jp"},
		{"<meta http-equiv=content-type content='text/html;charset=big5'>", "text/html", "big5"},
		{"<?xml version='1.0' encoding='EUC-KR'?>", "application/xml", "euc-kr"},
	} {
		got, err := decodeText([]byte(tt.body), tt.contentType, true)
		if want := `unsupported charset "` + tt.name + `"`; err == nil || err.Error() != want {
			t.Errorf("decodeText(%q, %q) = %q, %v, want %s", tt.body, tt.contentType, got, err, want)
		}
	}
}

func FuzzDecodeText(f *testing.F) {
	for _, s := range []string{"<meta charset=latin1>\xe9", "\xff\xfex", "<?xml encoding='x'?>", "<meta http-equiv=content-type content=charset"} {
		f.Add([]byte(s), "text/html; charset=iso-8859-15", true)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string, markup bool) {
		text, err := decodeText(body, contentType, markup)
		if err == nil && (!utf8.ValidString(text) || len(text) > 3*len(body)+3) {
			t.Fatalf("decodeText(%q, %q) = %q", body, contentType, text)
		}
	})
}
