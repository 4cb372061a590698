package server

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Request is one chat request as it came in.
type Request struct {
	Header http.Header
	Body   []byte
	At     time.Time
}

// Server answers chat requests from a script, in order, and keeps them unless it
// is told not to.
type Server struct {
	replies []Reply
	http    http.Server
	ln      net.Listener
	scheme  string
	onAsk   func(n int, r Request)
	forget  bool

	mu       sync.Mutex
	requests []Request
	calls    int // tool calls given so far; makes their ids unique
}

// Options are what a server may have beyond its script.
type Options struct {
	TLS   *tls.Config            // nil speaks plain HTTP
	OnAsk func(n int, r Request) // told of each request, counted from 1; may be nil

	Forget bool // keep no body: there will be many
}

// Start listens on a free loopback port.
func Start(replies []Reply, o Options) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{replies: replies, ln: ln, scheme: "http", onAsk: o.OnAsk, forget: o.Forget}
	s.http.Handler = s
	s.http.ErrorLog = log.New(io.Discard, "", 0) // clients that refuse a certificate
	if o.TLS != nil {
		s.scheme, s.ln = "https", tls.NewListener(ln, o.TLS)
	}
	go s.http.Serve(s.ln)
	return s, nil
}

// Base is the base URL that a client is given.
func (s *Server) Base() string { return s.scheme + "://" + s.ln.Addr().String() + "/v1" }

// Close ends the server and every connection.
func (s *Server) Close() error { return s.http.Close() }

// Requests are the chat requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers POST .../chat/completions; there is nothing else here.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		fault(w, http.StatusNotFound, Fault{Message: "no such path: " + r.URL.Path})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n, first := s.keep(Request{r.Header.Clone(), body, time.Now()})
	asked, err := Check(body)
	switch {
	case err != nil:
		fault(w, http.StatusBadRequest, Fault{Message: "stand-in server: " + err.Error()})
	case n > len(s.replies):
		fault(w, http.StatusBadRequest, Fault{Message: fmt.Sprintf("stand-in server: the script has no reply %d", n)})
	default:
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		(&answer{w: w, r: r, Reply: s.replies[n-1], asked: asked, key: key, firstCall: first}).send()
	}
}

// keep records a request and returns its number, and the number of the first
// tool call of its reply.
func (s *Server) keep(r Request) (n, firstCall int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	n, firstCall = len(s.requests), s.calls+1
	if n <= len(s.replies) {
		for _, p := range s.replies[n-1].Pieces {
			if p.Call != nil {
				s.calls++
			}
		}
	}
	if s.onAsk != nil {
		s.onAsk(n, r)
	}
	if s.forget {
		s.requests[n-1].Body = nil
	}
	return n, firstCall
}

func fault(w http.ResponseWriter, status int, f Fault) {
	w.Header().Set("Content-Type", "application/json")
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.WriteHeader(status)
	w.Write(encode(map[string]any{"error": map[string]any{"message": f.Message, "type": f.Type, "code": f.Code}}))
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // every value is built here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
