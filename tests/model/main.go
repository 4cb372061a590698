// Command model is a stand-in for a model server: it answers from a script
// (see package server) on a loopback address, so that the program can be tried
// and tested without a model. With a command after "--" it serves as long as
// that command runs, hands it the address, and ends with its exit code.
//
//	model SCRIPT                     serve until interrupted
//	model SCRIPT -- COMMAND [ARG]... serve one command
//
// The command finds the address in CLUADE_BASE_URL.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"cluade/tests/model/server"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		code = 2
	}
	os.Exit(code)
}

func run() (int, error) {
	verbose := flag.Bool("v", false, "tell of each request on stderr")
	useTLS := flag.Bool("tls", false, "speak TLS with a certificate made for this run; the command finds it in SSL_CERT_FILE")
	keep := flag.String("keep", "", "write the body of each request to `DIR`")
	flag.Parse()
	script, command := flag.Arg(0), flag.Args()
	if script == "" || len(command) > 1 && (command[1] != "--" || len(command) < 3) {
		return 2, errors.New("usage: model [-v] [-tls] [-keep DIR] SCRIPT [-- COMMAND [ARG]...]")
	}
	replies, err := server.Load(script)
	if err != nil {
		return 2, err
	}
	began := time.Now()
	o := server.Options{OnAsk: func(n int, r server.Request) {
		if *verbose {
			ms := r.At.Sub(began).Seconds() * 1000
			fmt.Fprintf(os.Stderr, "[stand-in server: request %d, %d bytes, after %.0f ms]\n", n, len(r.Body), ms)
		}
		if *keep != "" {
			os.WriteFile(filepath.Join(*keep, fmt.Sprintf("request-%d.json", n)), r.Body, 0o600)
		}
	}}
	env := os.Environ()
	if *useTLS {
		cert, conf, err := server.SelfSigned(time.Now())
		if err != nil {
			return 2, err
		}
		defer os.Remove(cert)
		o.TLS = conf
		env = append(env, "SSL_CERT_FILE="+cert)
	}
	s, err := server.Start(replies, o)
	if err != nil {
		return 2, err
	}
	defer s.Close()
	if len(command) == 1 {
		fmt.Println("listening on", s.Base())
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
		<-stop
		return 0, nil
	}
	began = time.Now()
	return serve(command[2:], append(env, "CLUADE_BASE_URL="+s.Base()))
}

// serve runs the command to its end. Ctrl-C is the command's to handle: it is
// caught here, not ignored, because the command would inherit that.
func serve(argv, env []string) (int, error) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
