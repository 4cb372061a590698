package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"cluade/internal/chat"
)

const (
	syslogPath = "/dev/log"
	syslogMax  = 900 // bytes of a line; small daemons keep 1024 with the header

	// Priorities of facility user: RFC 3164, section 4.1.1.
	priorityError = 1<<3 | 3
	priorityInfo  = 1<<3 | 6
)

// syslogWriter sends each line as one datagram to the system log. Where the
// log does not take it the line goes to the writer behind, so that none is
// lost. It is used by one goroutine at a time.
type syslogWriter struct {
	path   string
	conn   net.Conn
	behind io.Writer
	part   []byte // a line whose end has not come
}

// openSyslog connects to the log at path.
func openSyslog(path string, behind io.Writer) (*syslogWriter, error) {
	w := &syslogWriter{path: path, behind: behind}
	return w, w.connect()
}

func (w *syslogWriter) connect() error {
	conn, err := net.DialTimeout("unixgram", w.path, time.Second)
	if err == nil {
		w.conn = conn
	}
	return err
}

func (w *syslogWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		i := bytes.IndexByte(w.part, '\n')
		if i < 0 {
			break
		}
		w.line(string(w.part[:i]))
		w.part = append(w.part[:0], w.part[i+1:]...)
	}
	if len(w.part) > syslogMax {
		w.line(string(w.part))
		w.part = w.part[:0]
	}
	return len(p), nil
}

// line sends one line; the daemon may have been restarted, so it is tried
// twice.
func (w *syslogWriter) line(s string) {
	s = strings.TrimPrefix(chat.CleanText(s), "cluade: ")
	s = chat.EscapeText(strings.TrimSpace(s), syslogMax)
	if s == "" {
		return
	}
	priority := priorityInfo
	if strings.HasPrefix(s, "error: ") || strings.HasPrefix(s, "[provider error: ") {
		priority = priorityError
	}
	msg := fmt.Sprintf("<%d>%s cluade[%d]: %s", priority, time.Now().Format(time.Stamp), os.Getpid(), s)
	for range 2 {
		if w.conn != nil || w.connect() == nil {
			w.conn.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := io.WriteString(w.conn, msg); err == nil {
				return
			}
			w.conn.Close()
			w.conn = nil
		}
	}
	fmt.Fprintln(w.behind, s)
}

// Close sends what is left.
func (w *syslogWriter) Close() error {
	w.line(string(w.part))
	w.part = nil
	if w.conn == nil {
		return nil
	}
	return w.conn.Close()
}
