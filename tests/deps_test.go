package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "cluade"

// mayImport says which of our own packages each package may import. A package
// that is not here may not exist; one that is here need not exist yet.
var mayImport = map[string][]string{
	"":             {"internal/cli"},
	"internal/cli": everything,
	"agent":        {"internal/chat", "internal/policy", "internal/veil", "tools", "loopdetect"},
	"provider":     {"internal/chat", "internal/jsonenc", "internal/httpc"},
	"tools":        {"internal/policy", "internal/proc", "internal/httpc", "internal/hostname", "skills"},

	"internal/mcp":      {"tools", "internal/policy", "internal/proc", "internal/jsonenc"},
	"internal/hooks":    {"internal/chat", "internal/policy", "internal/proc", "internal/jsonenc"},
	"internal/guard":    {"internal/proc", "internal/jsonenc"},
	"internal/acp":      {"agent", "internal/chat", "internal/policy", "internal/jsonenc"},
	"internal/headless": {"agent", "internal/chat", "internal/policy", "internal/jsonenc"},

	"store":           {"internal/chat", "internal/jsonenc"},
	"internal/policy": {"dangercheck", "internal/hostname"},
	"internal/veil":   {"dangercheck"},
	"internal/chat":   {"internal/jsonenc"},

	"dangercheck":       {},
	"loopdetect":        {},
	"lineedit":          {},
	"skills":            {},
	"internal/jsonenc":  {},
	"internal/httpc":    {"internal/hostname"},
	"internal/hostname": {},
	"internal/proc":     {},

	"tests":              {"tests/model/server"},
	"tests/model":        {"tests/model/server"},
	"tests/model/server": {},
}

// everything is what the front end may import: all below it.
var everything = []string{
	"agent", "provider", "tools", "dangercheck", "loopdetect", "lineedit", "skills", "store",
	"internal/chat", "internal/jsonenc", "internal/httpc", "internal/hostname", "internal/policy", "internal/hooks", "internal/mcp", "internal/proc",
	"internal/veil", "internal/guard", "internal/acp", "internal/headless",
}

// external says which packages may import what from outside, and in which
// files; golang.org/x/sys comes only behind the others.
var external = []struct {
	path  string
	rooms []string
	files string // pattern of file names, "" is any
}{
	{"github.com/valyala/fastjson", []string{
		"provider", "tools", "store", "internal/chat", "internal/hooks", "internal/mcp",
		"internal/acp", "internal/headless", "internal/guard", "skills", "loopdetect",
	}, ""},
	{"golang.org/x/term", []string{"lineedit", "internal/cli"}, ""},
	{"golang.org/x/crypto/ssh", []string{"tools"}, "remote*.go"},
	{"golang.org/x/crypto/ssh/knownhosts", []string{"tools"}, "remote*.go"},
}

// forbidden packages cost too much flash or have no place on a device.
var forbidden = []string{
	"encoding/json", "log/slog", "text/template", "html/template", "net/rpc", "testing", "plugin",
	"net/http", "net/http/httptrace", "net/textproto", "mime", "mime/multipart",
}

// importFault says what is wrong with an import of a file that is no test, ""
// if nothing is.
func importFault(file, imported string) string {
	room := path.Dir(file)
	if room == "." {
		room = ""
	}
	may, known := mayImport[room]
	if !known {
		return fmt.Sprintf("%s: no package belongs into %q", file, room)
	}
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		if !slices.Contains(may, own) {
			return fmt.Sprintf("%s may not import %s", file, own)
		}
		return ""
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return ""
	}
	for _, e := range external {
		if e.path != imported {
			continue
		}
		fits, _ := path.Match(e.files, path.Base(file))
		if slices.Contains(e.rooms, room) && (e.files == "" || fits) {
			return ""
		}
	}
	return fmt.Sprintf("%s may not import %s", file, imported)
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, imported := range append(s.imports(), "unsafe") { // a file without imports is looked at too
			if fault := importFault(s.name, imported); fault != "" {
				t.Error(fault)
			}
		}
	}
}

func TestImportFault(t *testing.T) {
	good := [][2]string{
		{"main.go", "cluade/internal/cli"}, {"agent/turn.go", "cluade/tools"}, {"agent/turn.go", "strings"},
		{"internal/cli/app.go", "cluade/agent"}, {"store/config.go", "github.com/valyala/fastjson"},
		{"tools/remote.go", "golang.org/x/crypto/ssh"}, {"lineedit/tty.go", "golang.org/x/term"},
	}
	for _, e := range good {
		if got := importFault(e[0], e[1]); got != "" {
			t.Errorf("importFault(%q, %q) = %q, want none", e[0], e[1], got)
		}
	}
	bad := [][2]string{
		{"main.go", "cluade/agent"}, {"agent/turn.go", "cluade/provider"}, {"agent/turn.go", "cluade/store"},
		{"tools/read.go", "cluade/agent"}, {"tools/read.go", "cluade/internal/chat"}, {"provider/sse.go", "cluade/tools"},
		{"internal/chat/chat.go", "cluade/internal/policy"}, {"agent/turn.go", "cluade/internal/cli"},
		{"loopdetect/x.go", "cluade/internal/chat"}, {"helpers/x.go", "strings"}, {"internal/util/x.go", "strings"},
		{"agent/turn.go", "github.com/valyala/fastjson"}, {"provider/x.go", "golang.org/x/term"},
		{"tools/read.go", "golang.org/x/crypto/ssh"}, {"store/remote.go", "golang.org/x/crypto/ssh"},
		{"internal/cli/term.go", "golang.org/x/sys/unix"}, {"store/x.go", "example.org/other"},
		{"internal/cli/app.go", "cluade/tests/model/server"},
	}
	for _, e := range bad {
		if importFault(e[0], e[1]) == "" {
			t.Errorf("importFault(%q, %q) finds no fault", e[0], e[1])
		}
	}
}

func TestForbiddenPackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-tags", "netgo,osusergo", ".")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	inBinary := strings.Fields(string(out))
	if !slices.Contains(inBinary, "runtime") {
		t.Fatalf("go list -deps gives no runtime: %q", out)
	}
	for _, p := range forbidden {
		if slices.Contains(inBinary, p) {
			t.Errorf("%s is in the binary", p)
		}
	}
	for _, p := range inBinary {
		if strings.HasPrefix(p, "github.com/rogpeppe/") || strings.HasPrefix(p, module+"/tests") {
			t.Errorf("%s, which is for tests, is in the binary", p)
		}
	}
}

// TestRoot holds the list of what stands at the top of the project.
func TestRoot(t *testing.T) {
	allowed := []string{
		"main.go", "go.mod", "go.sum", "Makefile", "README.md", "THIRD_PARTY_LICENSES", ".gitignore", ".ci", "docs",
		"agent", "provider", "tools", "dangercheck", "loopdetect", "lineedit", "skills", "store", "internal", "build", "tests",
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !ignored(e.Name()) && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s does not belong at the root", e.Name())
		}
	}
}
