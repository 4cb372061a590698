package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cluade/tests/model/server"
)

// The manual is checked against what the program itself says.

// program runs the binary under test in an empty home and returns its stdout.
func program(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + cmd.Dir}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cluade %q: %v", args, err)
	}
	return string(out)
}

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section is the text below a heading of a page, up to the next of its rank or
// a higher one.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	rank, _, _ := strings.Cut(heading, " ")
	_, after, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	end := regexp.MustCompile(`(?m)^#{1,` + string(rune('0'+len(rank))) + `} `).FindStringIndex(after)
	if end != nil {
		after = after[:end[0]]
	}
	return after
}

// firstCells are the first cells of the rows of all tables in a text.
func firstCells(text string) (cells []string) {
	for _, line := range strings.Split(text, "\n") {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
			cells = append(cells, cell)
		}
	}
	return cells
}

// optionForm is an option with its short form and the name of its value, as
// both --help and the manual write it.
var optionForm = regexp.MustCompile(`(?:(-[A-Za-z]), )?(--[a-z][a-z-]*)((?: | \[|=)[A-Z]+\]?)?`)

// helpOptions are the options of --help, "-m, --model NAME", which stand at
// the beginnings of lines.
func helpOptions(t *testing.T) (list []string) {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^ +(?:-[A-Za-z], )?--[a-z].*`)
	for _, line := range lines.FindAllString(program(t, "--help"), -1) {
		list = append(list, optionForm.FindString(line))
	}
	if len(list) < 20 {
		t.Fatalf("only %d options found in --help: %q", len(list), list)
	}
	return list
}

// manualOptions are those in the first cells of tables.
func manualOptions(text string) (list []string) {
	for _, cell := range firstCells(text) {
		list = append(list, optionForm.FindAllString(strings.ReplaceAll(cell, "`", ""), -1)...)
	}
	return list
}

func TestManualOptions(t *testing.T) {
	help := helpOptions(t)
	manual, _, _ := strings.Cut(section(t, page(t, "docs/command-line.md"), "## Options"), "### ")
	compare(t, "--help", help, "docs/command-line.md", manualOptions(manual))
	for _, o := range manualOptions(page(t, "README.md")) {
		if !slices.Contains(help, o) {
			t.Errorf("README.md has %q, --help has not", o)
		}
	}
}

// compare reports what only one of two lists has.
func compare(t *testing.T, aName string, a []string, bName string, b []string) {
	t.Helper()
	if len(a) == 0 || len(b) == 0 {
		t.Errorf("%d in %s, %d in %s", len(a), aName, len(b), bName)
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			t.Errorf("%s has %q, %s has not", aName, x, bName)
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			t.Errorf("%s has %q, %s has not", bName, x, aName)
		}
	}
}

var number = regexp.MustCompile(`\b[0-9]+\b`)

func TestManualExitCodes(t *testing.T) {
	codes := func(cells []string) (list []string) {
		for _, c := range cells {
			if regexp.MustCompile(`^[0-9, ]+$`).MatchString(c) {
				list = append(list, number.FindAllString(c, -1)...)
			}
		}
		return list
	}
	manual := codes(firstCells(section(t, page(t, "docs/command-line.md"), "## Exit codes")))
	compare(t, "docs/command-line.md", manual, "README.md", codes(firstCells(page(t, "README.md"))))
	help := program(t, "help", "exit-codes")
	for _, code := range manual {
		if !slices.Contains(number.FindAllString(help, -1), code) {
			t.Errorf("cluade help exit-codes lacks %s", code)
		}
	}
}

var slash = regexp.MustCompile(`/[a-z]+`)

func TestManualCommands(t *testing.T) {
	dir := t.TempDir()
	s := start{
		argv: []string{binary(t)}, dir: dir, tty: true, typed: "/help\n/exit\n",
		env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "GOCOVERDIR=" + dir},
	}
	r, err := s.start()
	if err == nil {
		err = r.wait(patience)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, _ := r.output()
	var help []string
	for _, name := range regexp.MustCompile(`(?m)^/.{39}(/[a-z]+) `).FindAllStringSubmatch(out, -1) {
		help = append(help, name[1])
	}
	for _, name := range regexp.MustCompile(`(?m)^(/[a-z]+) `).FindAllStringSubmatch(out, -1) {
		help = append(help, name[1])
	}
	var manual []string
	for _, cell := range firstCells(page(t, "docs/terminal.md")) {
		if strings.HasPrefix(cell, "`/") {
			manual = append(manual, slash.FindAllString(cell, -1)...)
		}
	}
	compare(t, "/help", help, "docs/terminal.md", manual)
}

// TestManualTools: every tool that the model is told of has its row and its
// section.
func TestManualTools(t *testing.T) {
	replies, err := server.Parse("text hello", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(replies, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	program(t, "--base-url", s.Base(), "-p", "hi")
	told := regexp.MustCompile(`"function":\{"name":"([a-z_]+)"`).FindAllStringSubmatch(string(s.Requests()[0].Body), -1)
	var have, inReadme, inManual []string
	for _, m := range told {
		have = append(have, m[1])
	}
	name := regexp.MustCompile("^`[a-z_]+`$")
	_, tools, _ := strings.Cut(page(t, "README.md"), "\n| tool |")
	tools, _, _ = strings.Cut(tools, "\n\n")
	for _, cell := range firstCells(tools) {
		if name.MatchString(cell) {
			inReadme = append(inReadme, strings.Trim(cell, "`"))
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## ([a-z_]+)$`).FindAllStringSubmatch(page(t, "docs/tools.md"), -1) {
		inManual = append(inManual, m[1])
	}
	compare(t, "the request", have, "README.md", inReadme)
	compare(t, "the request", have, "docs/tools.md", inManual)
}

// TestManualLinks: every relative link of the manual leads somewhere.
func TestManualLinks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, p := range append(pages, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(p), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", p, m[1])
			}
		}
	}
}

// TestLicences: each module whose code is in the binary is named with its
// licence.
func TestLicences(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	text := page(t, "THIRD_PARTY_LICENSES")
	modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	for _, m := range modules {
		if m != module && !strings.Contains(text, m) {
			t.Errorf("THIRD_PARTY_LICENSES lacks %s", m)
		}
	}
}
