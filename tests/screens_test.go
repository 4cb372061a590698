package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cluade/tests/model/server"

	"github.com/rogpeppe/go-internal/txtar"
)

// The screens: each file of screens/ drives the binary in tmux and says what the
// person then sees. Its head is the script, one act a line:
//
//	size COLUMNSxROWS   of the window; the first line
//	run [ARG]...        start cluade with these arguments
//	type TEXT           type it as it stands; in Go quotes, escapes count
//	key NAME...         press keys by tmux's names: Enter, Up, C-c, M-b
//	paste FILE          paste a file of the archive, as a terminal does
//	resize COLUMNSxROWS
//	wait REGEXP         wait until the screen fits; its lines have no blank at the end
//	screen NAME         wait until the screen is that of the file NAME
//
// The file "replies" is the model's script; with "usage" in it the status bar
// is the same in each run. Behind a screen stands where the
// cursor is, counted from 0. What differs from run to run is shown as #.
// "go test -run TestScreens -u" writes what is found into the files.
func TestScreens(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	binary(t)
	files, err := filepath.Glob("screens/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no screens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScreens(t, file)
		})
	}
}

// window is a terminal of tmux with a model to talk to.
type window struct {
	t       *testing.T
	dir     string
	archive *txtar.Archive
	base    string // address of the model
	size    string
}

func runScreens(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cluade") // short: the path of a socket has a limit
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, dir: dir, archive: archive}
	t.Cleanup(func() {
		pids, _ := w.try("list-panes", "-a", "-F", "#{pane_pid}")
		w.try("kill-server")
		end := time.Now().Add(5 * time.Second)
		for _, pid := range strings.Fields(pids) { // what is hung up still saves its history
			for time.Now().Before(end) {
				if _, err := os.Stat("/proc/" + pid); err != nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		os.RemoveAll(dir)
	})
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	replies, err := server.Load(filepath.Join(dir, "replies"))
	if err != nil {
		t.Fatal(err)
	}
	model, err := server.Start(replies, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	w.base = model.Base()
	for line := range strings.Lines(string(archive.Comment)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			w.act(line)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *window) act(line string) {
	w.t.Helper()
	word, arg, _ := strings.Cut(line, " ")
	switch word {
	case "size":
		w.size = arg
	case "run":
		w.run(strings.Fields(arg))
	case "type":
		w.tmux("send-keys", "-l", unquote(w.t, arg))
	case "key":
		w.tmux(append([]string{"send-keys"}, strings.Fields(arg)...)...)
	case "paste":
		w.tmux("load-buffer", filepath.Join(w.dir, arg))
		w.tmux("paste-buffer", "-p")
	case "resize":
		columns, rows, _ := strings.Cut(arg, "x")
		w.tmux("resize-window", "-x", columns, "-y", rows)
	case "wait":
		re, err := regexp.Compile(`(?m)` + arg)
		if err != nil {
			w.t.Fatal(err)
		}
		if !becomes(func() bool { return re.MatchString(w.screen()) }) {
			w.t.Fatalf("%s: the screen is\n%s", line, w.screen())
		}
	case "screen":
		w.compare(arg)
	default:
		w.t.Fatalf("unknown act: %s", line)
	}
}

// run starts the program in a window of its own, in the place of one before.
func (w *window) run(args []string) {
	w.t.Helper()
	home := filepath.Join(w.dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		w.t.Fatal(err)
	}
	columns, rows, _ := strings.Cut(w.size, "x")
	argv := append([]string{
		"new-session", "-d", "-x", columns, "-y", rows, "-c", w.dir, "--",
		"env", "-i", "TERM=xterm", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + w.dir,
		"GOCOVERDIR=" + w.dir, "CLUADE_BASE_URL=" + w.base,
		filepath.Join(binDir, "cluade"),
	}, args...)
	conf := filepath.Join(w.dir, "tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -g remain-on-exit on\nset -g remain-on-exit-format ''\nset -sg escape-time 0\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.try("has-session"); err == nil {
		argv = append([]string{"respawn-pane", "-k"}, argv[6:]...)
	}
	w.tmux(append([]string{"-f", conf}, argv...)...)
}

func (w *window) try(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(w.dir, "tmux")}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

var (
	sessionIDs = regexp.MustCompile(`\d{8}-\d{6}-\d{4}`)
	seconds    = regexp.MustCompile(`\d+\.\ds`)
	versions   = regexp.MustCompile(`(?m)^cluade \S+ -`)
	devices    = regexp.MustCompile(`(?m)^(  device +)\S+$`)
	digits     = regexp.MustCompile(`\d`)
)

// screen is what the window shows, with its cursor.
func (w *window) screen() string {
	w.t.Helper()
	// One command for both, so that they belong together.
	out := w.tmux("capture-pane", "-p", ";", "display-message", "-p", "cursor #{cursor_x} #{cursor_y}")
	at := strings.LastIndex(strings.TrimSuffix(out, "\n"), "\n") + 1
	text := strings.TrimRight(out[:at], "\n") + "\n"
	text = strings.ReplaceAll(text, w.dir, "DIR")
	text = strings.ReplaceAll(text, strings.TrimSuffix(strings.TrimPrefix(w.base, "http://"), "/v1"), "MODEL")
	text = versions.ReplaceAllString(text, "cluade # -")
	text = devices.ReplaceAllString(text, "${1}#")
	text = seconds.ReplaceAllString(text, "#s")
	text = sessionIDs.ReplaceAllStringFunc(text, func(id string) string { return digits.ReplaceAllString(id, "#") })
	return text + out[at:]
}

// compare waits for a screen of the archive; with -u it puts there what is
// shown as soon as that has come to rest.
func (w *window) compare(name string) {
	w.t.Helper()
	var want *txtar.File
	for i := range w.archive.Files {
		if w.archive.Files[i].Name == name {
			want = &w.archive.Files[i]
		}
	}
	if want == nil {
		w.archive.Files = append(w.archive.Files, txtar.File{Name: name})
		want = &w.archive.Files[len(w.archive.Files)-1]
	}
	const rest = time.Second
	got, since := w.screen(), time.Now()
	becomes(func() bool {
		if !*update && got == string(want.Data) {
			return true
		}
		if next := w.screen(); next != got {
			got, since = next, time.Now()
		}
		return *update && time.Since(since) > rest
	})
	if *update {
		want.Data = []byte(got)
	} else if got != string(want.Data) {
		w.t.Errorf("%s is\n%s\nwant\n%s", name, got, want.Data)
	}
}

// unquote reads a Go string, or takes what is none as it stands.
func unquote(t *testing.T, s string) string {
	t.Helper()
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	var text string
	if _, err := fmt.Sscanf(s, "%q", &text); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}
