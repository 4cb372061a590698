package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Scripts that sh runs on another host, with the tools of every POSIX system.
// The text of a script holds no single quote: it travels inside of a pair, and
// names and patterns are quoted behind it.

// shell is a script that runs on a host. It is a reader of what the script
// prints.
type shell struct {
	*remoteCommand
	ctx  context.Context
	conn *connection
	eof  bool
	errs chan string // what it complains of, once, cut
	said string      // the same, once it is finished
	free func() bool
}

// Read reads what the script prints.
func (s *shell) Read(p []byte) (int, error) {
	n, err := s.ch.Read(p)
	if s.ctx.Err() != nil {
		return n, s.ctx.Err()
	}
	s.eof = s.eof || err == io.EOF
	return n, err
}

// maxCommand is a little less than the longest argument on Linux.
const maxCommand = 120 << 10

// shellMark comes before the output of a script: a login shell may print a
// greeting even where nobody reads it.
const shellMark = "--- cluade ---"

// watchScript kills a script with all that it started when its input ends, as
// it does with the channel or the connection. What waits on the host for
// something that does not come, such as a reader of /proc/kmsg, would else be
// there for ever: sshd passes no signals on to what root runs, and dropbear
// gives commands no process group of their own. So the processes are looked up
// by their parents, which takes Linux; once the script itself is gone, its
// number may be another's, and nothing is done.
const watchScript = `exec 3<&0
(read x <&3
read -r l </proc/self/stat
set -- $l
me=$1 all=" $$ "
set -- ${l##*) }
[ "$2" = $$ ] || exit
for depth in 1 2 3; do
	for p in /proc/[0-9]*; do
		read -r l <$p/stat || continue
		set -- ${l##*) }
		p=${p#/proc/}
		case "$me $all" in *" $p "*|"$p "*) continue ;; esac
		case $all in *" $2 "*) all="$all$p " ;; esac
	done
done
kill -9 $all) </dev/null >/dev/null 2>&1 &
exec </dev/null 3<&-
`

// shell starts a script with its input and returns a reader of its output. It
// has to be finished. The end of ctx closes the connection. A script whose input
// is nil does not outlast the channel.
func (c *connection) shell(ctx context.Context, input []byte, script string, args []string) (*shell, *bufio.Reader, error) {
	if input == nil {
		script = watchScript + script
	}
	words := []string{"exec sh -c", quoteShell("echo \"" + shellMark + "\"\n" + script), "sh"}
	for _, a := range args {
		words = append(words, quoteShell(a))
	}
	command := strings.Join(words, " ")
	if len(command) > maxCommand {
		return nil, nil, errors.New("names and patterns are too long together")
	}
	s := &shell{ctx: ctx, conn: c, errs: make(chan string, 1), free: context.AfterFunc(ctx, c.close)}
	var err error
	if s.remoteCommand, err = c.start(command); err != nil {
		s.free()
		return nil, nil, err
	}
	if input != nil {
		go func() {
			io.Copy(s.ch, bytes.NewReader(input))
			s.ch.CloseWrite()
		}()
	}
	go func() {
		text, _ := io.ReadAll(io.LimitReader(s.ch.Stderr(), 4<<10))
		io.Copy(io.Discard, s.ch.Stderr())
		s.errs <- string(text)
	}()
	out := bufio.NewReaderSize(s, 32<<10)
	const greeting = 64 << 10
	for size := int64(0); size < greeting; {
		line, n, err := readLine(out, len(shellMark)+1)
		if err != nil {
			break
		}
		if string(line) == shellMark {
			return s, out, nil
		}
		size += n + 1
	}
	return nil, nil, fmt.Errorf("no shell answers: %w", s.finish())
}

// finish ends a script, whether it was read to its end or not. The error is
// what it complained of, where it did not end well. Where it was not read to
// its end that is no fault.
func (s *shell) finish() error {
	defer s.free()
	if !s.eof {
		s.ch.CloseWrite() // ends it; see watchScript
		s.ch.Close()
	}
	// The channel is waited for: what the host sends late on one that is closed
	// would end the connection.
	limit := time.AfterFunc(remoteTerm, s.conn.close)
	defer limit.Stop()
	code, ok := <-s.end
	s.ch.Close()
	if ok {
		<-s.end
	}
	s.said = strings.TrimSpace(<-s.errs)
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case !s.eof || ok && code == 0:
		return nil
	case !ok:
		return errors.New("the connection ended")
	}
	return shellError{code, s.said}
}

// shellError is the end of a script that went wrong.
type shellError struct {
	code int
	said string
}

func (e shellError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return cutText(e.said, 300)
}

func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// sh runs a script to its end and returns what it printed, a line or so. What
// it changes it is not killed over, whatever becomes of the connection.
func (h *host) sh(ctx context.Context, input []byte, script string, args ...string) (string, error) {
	if input == nil {
		input = []byte{}
	}
	ctx, cancel := context.WithTimeout(ctx, h.env.sshTimeout())
	defer cancel()
	s, out, err := h.conn.shell(ctx, input, script, args)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(out, 4<<10))
	if end := s.finish(); end != nil {
		err = end
	}
	return string(text), err
}

// readName reads a name that ends in a NUL byte.
func readName(r *bufio.Reader) (string, error) {
	var name []byte
	for {
		part, err := r.ReadSlice(0)
		if len(name) < 8<<10 {
			name = append(name, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return "", err
		}
		return strings.TrimSuffix(string(name), "\x00"), nil
	}
}
