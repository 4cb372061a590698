package tests

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdSite starts a web server on loopback. Each file of a directory is the
// whole answer to its name, from the status line on; what is asked is noted in
// a file beside it, NAME.asked. The server ends with the script.
func cmdSite(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "site DIR [FILE]...")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ln.Close() })
	address := "http://" + ln.Addr().String()
	ts.Setenv("SITE", address)
	for _, file := range args[1:] {
		text := strings.ReplaceAll(ts.ReadFile(file), "SITE", address)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o644))
	}
	dir := ts.MkAbs(args[0])
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serveFile(conn, dir)
		}
	}()
}

// serveFile answers one request.
func serveFile(conn net.Conn, dir string) {
	defer conn.Close()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	file := filepath.Join(dir, filepath.Base(r.URL.Path))
	answer, err := os.ReadFile(file)
	if err != nil {
		answer = []byte("HTTP/1.1 404 Not Found\n\n")
	} else if asked, err := os.Create(file + ".asked"); err == nil {
		r.Write(asked)
		asked.Close()
	}
	head, body, _ := strings.Cut(string(answer), "\n\n")
	conn.Write([]byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body))
}
