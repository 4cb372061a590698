package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluade/internal/httpc"
)

func TestParseSource(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"local/tree", "plain"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const github = "https://github.com/"
	tests := []struct {
		src  string
		want origin
	}{
		{"plain", origin{}}, {"./x", origin{}}, {"../x", origin{}}, {"/x", origin{}}, {"/x::y", origin{}}, {".", origin{}}, {"nothing", origin{}}, {"a/b/c", origin{}},
		{"local/tree", origin{}},
		{"local/other", origin{github + "local/other", "local/other"}},
		{"anthropics/skills", origin{github + "anthropics/skills", "anthropics/skills"}},
		{"o/r.x_y-z", origin{github + "o/r.x_y-z", "o/r.x_y-z"}}, {"o/r.git", origin{github + "o/r.git", "o/r"}},
		{"-o/r", origin{}}, {"o/-r", origin{}}, {"o/..", origin{}}, {"../..", origin{}}, {"~/skills", origin{}}, {"o/r?x", origin{}},
		{github + "o/r", origin{github + "o/r", "o/r"}}, {github + "o/r.git", origin{github + "o/r.git", "o/r"}}, {github + "o/r/", origin{github + "o/r/", "o/r"}},
		{"https://me:secret@github.com/o/r", origin{"https://me:secret@github.com/o/r", "o/r"}},
		{"ssh://git@github.com/o/r.git", origin{"ssh://git@github.com/o/r.git", "o/r"}}, {"git@github.com:o/r.git", origin{"git@github.com:o/r.git", "o/r"}},
		{"HTTPS://GitHub.com/o/r", origin{"https://GitHub.com/o/r", "o/r"}}, {"github.com/o/r.git", origin{github + "o/r.git", "o/r"}},
		{"https://git.example/o/r", origin{url: "https://git.example/o/r"}}, {"git://git.example/r", origin{url: "git://git.example/r"}},
		{"host:path/r", origin{url: "host:path/r"}}, {"file:///srv/r.git", origin{url: "file:///srv/r.git"}},
	}
	for _, tt := range tests {
		if got, err := parseSource(tt.src); err != nil || got != tt.want {
			t.Errorf("parseSource(%q) = %+v, %v, want %+v", tt.src, got, err, tt.want)
		}
	}
	for _, src := range []string{
		"ext::sh -c touch% x", "http://github.com/o/r", "ftp://x/y", "HTTP://x/y", "fd::7", "git+ssh://x/y", "://x", "https://github.com/o/r/tree/main/x", "https://github.com/o", "github.com/o/r/tree/main",
		"https::https://x/y", "a::b",
	} {
		if got, err := parseSource(src); err == nil {
			t.Errorf("parseSource(%q) = %+v, want an error", src, got)
		}
	}
}

func TestParseTree(t *testing.T) {
	t.Chdir(t.TempDir())
	good := []struct {
		args string
		want treeCommand
	}{
		{"skillimport x", treeCommand{src: "x"}},
		{"skillimport --dry-run --force x --link --json", treeCommand{src: "x", given: " dry-run force link json "}},
		{"skillimport --dest d --target router x", treeCommand{src: "x", dest: "d", router: true}},
		{"skillimport x --dest=d --target=router", treeCommand{src: "x", dest: "d", router: true}},
		{"skillimport -- --x", treeCommand{src: "--x"}},
		{"skillimport --help", treeCommand{given: " help "}}, {"skillimport -h", treeCommand{given: " help "}},
		{"marketplace x --target router --json", treeCommand{src: "x", router: true, given: " json "}},
	}
	for _, tt := range good {
		args := strings.Fields(tt.args)
		if tt.want.name = args[0]; tt.want.given == "" {
			tt.want.given = " "
		}
		if got, err := parseTree(args[0], args[1:]); err != nil || *got != tt.want {
			t.Errorf("parseTree(%q) = %+v, %v, want %+v", tt.args, got, err, tt.want)
		}
	}
	bad := []struct{ args, want string }{
		{"skillimport", "skillimport needs a source: a path, a git URL or owner/repo (cluade skillimport --help)"},
		{"skillimport x y", "skillimport takes one source: a path, a git URL or owner/repo"},
		{"skillimport x --dryrun", "skillimport has no option --dryrun; the nearest is --dry-run"},
		{"skillimport x -f", "skillimport has no option -f; the nearest is --json"},
		{"skillimport x --target pi", "--target is router, or left out for this device"},
		{"skillimport x --target", "--target needs a value"},
		{"skillimport x --dest", "--dest needs a value"},
		{"skillimport x --force=1", "--force takes no value"},
		{"skillimport o/r --link", "--link needs a local path"},
		{"skillimport ext::x", "ext::x: a repository comes by https, ssh, git or file"},
		{"marketplace x --force", "marketplace has no option --force; the nearest is --json"},
	}
	for _, tt := range bad {
		args := strings.Fields(tt.args)
		if _, err := parseTree(args[0], args[1:]); err == nil || !strings.HasPrefix(err.Error(), strings.Split(tt.want, "nearest")[0]) {
			t.Errorf("parseTree(%q) = %v, want %q", tt.args, err, tt.want)
		}
	}
}

func TestGitVars(t *testing.T) {
	got := strings.Join(gitVars([]string{"HOME=/h", "GIT_DIR=/x", "GIT_SSL_CAINFO=/c", "GIT_ASKPASS=ask", "OPENAI_API_KEY=k", "GIT_ALLOW_PROTOCOL=ext"}), " ")
	want := "HOME=/h GIT_SSL_CAINFO=/c GIT_ALLOW_PROTOCOL=https:ssh:git:file GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=true SSH_ASKPASS=false SSH_ASKPASS_REQUIRE=never GIT_LFS_SKIP_SMUDGE=1 LC_ALL=C"
	if got != want {
		t.Errorf("gitVars = %q, want %q", got, want)
	}
}

// published is what GitHub serves for a repository: one directory, compressed.
func published(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "r-9d2f1ae/" + files[i], Size: int64(len(files[i+1])), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

// archiveSite serves over TLS and makes a client for it.
func archiveSite(t *testing.T, h http.HandlerFunc) (*httpc.Client, *url.URL) {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	at, err := url.Parse(srv.URL + "/o/r/tar.gz/HEAD")
	if err != nil {
		t.Fatal(err)
	}
	client := archiveClient()
	client.TLS = func(host string, _ net.Conn) *tls.Config { return &tls.Config{RootCAs: roots, ServerName: host} }
	return client, at
}

// fetch does what fetchArchive does, from a site of the test's.
func fetch(t *testing.T, c *treeCommand, h http.HandlerFunc) (*checkout, string, error) {
	t.Helper()
	var errout bytes.Buffer
	a := &app{env: Env{Stdout: io.Discard, Stderr: &errout, Getenv: func(string) string { return "" }}}
	a.out = newOutput(a.env, outputOptions{})
	client, from := archiveSite(t, h)
	defer client.CloseIdle()
	at := &checkout{dir: filepath.Join(t.TempDir(), "tree")}
	body, err := openArchive(context.Background(), client, from)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	err = a.unpack(context.Background(), c, body, at)
	return at, errout.String(), err
}

func TestArchive(t *testing.T) {
	data := published(t, "skills/x/SKILL.md", "text", "skills/x/logo.png", "picture", "../../out", "o")
	serve := func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/o/r/tar.gz/HEAD" {
			http.Redirect(rw, r, "/moved", http.StatusFound)
			return
		}
		rw.Write(data)
	}
	for _, c := range []*treeCommand{{name: "skillimport"}, {name: "skillimport", given: " dry-run "}, {name: "marketplace"}} {
		at, said, err := fetch(t, c, serve)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(at.dir) != "r-9d2f1ae" || !strings.Contains(said, "r-9d2f1ae/../../out is left out") {
			t.Errorf("the tree is %s, said was %q", at.dir, said)
		}
		want := "picture"
		if c.name == "marketplace" || c.has("dry-run") {
			want = "" // the name is enough
		}
		for name, want := range map[string]string{"SKILL.md": "text", "logo.png": want} {
			if got, err := os.ReadFile(filepath.Join(at.dir, "skills/x", name)); err != nil || string(got) != want {
				t.Errorf("%+v: %s is %q, %v, want %q", c, name, got, err, want)
			}
		}
	}
}

func TestArchiveFaults(t *testing.T) {
	whole := published(t, "a", strings.Repeat("x", 3000))
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  string
	}{
		{"not there", http.NotFound, "there is no such public repository (HTTP 404)"},
		{"an error", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(503) }, "HTTP 503"},
		{"a loop", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, r.URL.Path, http.StatusFound) }, "more than 5 redirects"},
		{"out of https", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://127.0.0.1/x", http.StatusFound)
		}, `HTTP 302 leads to "http://127.0.0.1/x"`},
		{"announced too large", func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Content-Length", "99999999") }, "99999999 bytes are more than 67108864"},
		{"no archive", func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, strings.Repeat("<html>", 9)) }, "gzip: invalid header"},
		{"cut", func(rw http.ResponseWriter, _ *http.Request) { rw.Write(whole[:len(whole)-20]) }, "the archive ends in the middle"},
		{"damaged", func(rw http.ResponseWriter, _ *http.Request) {
			bad := bytes.Clone(whole)
			bad[len(bad)-6] ^= 1
			rw.Write(bad)
		}, "gzip: invalid checksum"},
	}
	for _, tt := range tests {
		if _, _, err := fetch(t, &treeCommand{name: "skillimport"}, tt.serve); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestNoGit: without git the person is told what to install, and what would
// have been fetched stays unfetched.
func TestNoGit(t *testing.T) {
	w := newWorld(t)
	w.vars["PATH"] = w.dir
	got := w.run("skillimport", "https://git.example/o/r")
	if got.code != exitFailed || !strings.Contains(got.errout, "git is missing") || !strings.Contains(got.errout, "git-http") {
		t.Errorf("exit %d, %q", got.code, got.errout)
	}
}

func TestShownURL(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("a@b", 0o755); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"https://me:secret@x/y": "https://***@x/y", "https://secret@x/y": "https://***@x/y", "https://me:sec%zzret@x/y": "https://***@x/y",
		"https://me:sec/ret@x/y": "https://***@x/y", "https://me:sec@ret@x/y": "https://***@x/y", "ftp://secret@x": "ftp://***@x",
		"https://me:secret@x/y@v1?z": "https://***@x/y@v1?***", "https://x/y?token=secret": "https://x/y?***", "secret@github.com/o/r": "***@github.com/o/r",
		"https://x/y": "https://x/y", "https://x/y@v1": "https://x/y@v1", "git@x:y": "git@x:y", "ssh://git@x/y": "ssh://git@x/y", "o/r": "o/r",
		"/a@b": "/a@b", "./a@b?": "./a@b?", "a@b": "a@b", "https://secret@": "https://***@", "@": "***@",
	} {
		if got := shownURL(in); got != want {
			t.Errorf("shownURL(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestNoPasswordIsShown: whatever goes wrong with an address, its user and
// password are not on the screen.
func TestNoPasswordIsShown(t *testing.T) {
	w := newWorld(t)
	w.file("bin/git", "#!/bin/sh\nfor u; do :; done\ncase $* in *empty*) mkdir $u; exit;; esac\nfor u; do case $u in *://*) echo \"fatal: no Password for '${u%/*}': $u\" >&2;; esac; done\nexit 128\n")
	if err := os.Chmod(filepath.Join(w.dir, "bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.vars["PATH"] = filepath.Join(w.dir, "bin") + ":/bin:/usr/bin"
	for _, src := range []string{
		"https://me:ghp_SECRET@github.com/a/b/tree/main", "http://me:ghp_SECRET@h/x", "https://ghp_SECRET@git.example/o/r", "https://me:ghp%zz_SECRET@git.example/x",
		"https://ghp_SECRET@github.com/o/r", "ghp_SECRET@github.com/o/r", "git+https://ghp_SECRET@h/x",
		"https://ghp_SECRET@git.example/empty",
	} {
		for _, name := range []string{"skillimport", "marketplace"} {
			got := w.run(name, src, "--json")
			if got.code == 0 || strings.Contains(got.out+got.errout, "SECRET") || !strings.Contains(got.errout, "***@") {
				t.Errorf("%s %s: %d, %q %q", name, src, got.code, got.out, got.errout)
			}
		}
	}
}

// TestDestIsNoDirectory: the person is told of the place for skills, and not of
// the configuration.
func TestDestIsNoDirectory(t *testing.T) {
	w := newWorld(t)
	w.file("src/SKILL.md", "---\ndescription: d\n---\n")
	os.Symlink("/nonexistent/z", "dl")
	got := w.run("skillimport", "src", "--dest", "dl")
	if got.code != exitFailed || !strings.Contains(got.errout, "dl is there and is no directory") || strings.Contains(got.errout, "hint") {
		t.Errorf("%d, %q", got.code, got.errout)
	}
	os.Symlink("/nonexistent/z", filepath.Join(w.home, ".cluade"))
	if got := w.run("--init"); got.code == 0 || strings.Contains(got.errout, "hint") {
		t.Errorf("--init: %d, %q", got.code, got.errout)
	}
}

// TestLinkIsFollowed: what says linked is offered afterwards.
func TestLinkIsFollowed(t *testing.T) {
	w := newWorld(t)
	const text = "---\ndescription: d\n---\n"
	w.file("out/a/SKILL.md", text)
	w.file(filepath.Join(w.home, "own/b/SKILL.md"), text)
	for _, tt := range []struct{ src, dest, want string }{
		{"out", filepath.Join(w.home, ".cluade/skills"), "a: refused, a link from there is not followed"}, {"out", ".claude/skills", "a: refused"},
		{"out", "else", "a: linked"}, {filepath.Join(w.home, "own"), filepath.Join(w.home, ".cluade/skills"), "b: linked"},
	} {
		for _, dry := range []string{"--dry-run", "--json"} {
			got := w.run("skillimport", tt.src, "--link", "--dest", tt.dest, dry)
			want := strings.Replace(tt.want, ": linked", ": would be linked", 1)
			if dry == "--json" {
				want = `"result":"` + strings.FieldsFunc(tt.want, func(c rune) bool { return strings.ContainsRune(" :,", c) })[1] + `"`
			}
			if !strings.Contains(got.out, want) {
				t.Errorf("%s in %s: %q, %q, want %q", tt.src, tt.dest, got.out, got.errout, want)
			}
		}
	}
}
