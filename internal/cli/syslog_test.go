package cli

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// listenLog stands in for the log daemon.
func listenLog(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	os.Remove(path)
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func nextRecord(t *testing.T, l *net.UnixConn) string {
	t.Helper()
	buf := make([]byte, 4096)
	l.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := l.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestSyslogLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listenLog(t, path)
	var behind strings.Builder
	w, err := openSyslog(path, &behind)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("\x1b[32m[step"))
	w.Write([]byte(" 1]\x1b[0m\n\n" + "cluade: error: no\n" + strings.Repeat("x", 5000)))
	w.Close()
	head := `[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} cluade\[[0-9]+\]: `
	for _, want := range []string{`<14>` + head + `\[step 1\]`, `<11>` + head + `error: no`, `<14>` + head + `x{900}\.\.\.`} {
		if got := nextRecord(t, l); !regexp.MustCompile(`^` + want + `$`).MatchString(got) {
			t.Errorf("record %q, want %q", got, want)
		}
	}
	if behind.Len() > 0 {
		t.Errorf("standard error got %q", behind.String())
	}
}

func TestSyslogDaemonGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := listenLog(t, path)
	var behind strings.Builder
	w, err := openSyslog(path, &behind)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	os.Remove(path)
	w.Write([]byte("lost?\n"))
	if behind.String() != "lost?\n" {
		t.Errorf("standard error got %q, want the line", behind.String())
	}
	again := listenLog(t, path)
	w.Write([]byte("back\n"))
	if got := nextRecord(t, again); !strings.HasSuffix(got, ": back") {
		t.Errorf("record %q, want the line after the daemon's return", got)
	}
}
