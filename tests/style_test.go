package tests

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// The house rules that a program can check. Each check is a function from one
// file to its faults, so that TestStyleChecks can show that it finds some.

// styleChecks are the rules for files that are no tests.
var styleChecks = map[string]func(source) []string{
	"length":     checkLength,
	"functions":  checkFunctions,
	"globals":    checkGlobals,
	"processes":  checkProcesses,
	"mutexes":    checkMutexes,
	"reflection": checkReflection,
}

func TestStyle(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || strings.HasPrefix(s.name, "tests/") {
			for _, fault := range checkLength(s) {
				t.Error(fault)
			}
			continue
		}
		for _, check := range styleChecks {
			for _, fault := range check(s) {
				t.Error(fault)
			}
		}
	}
}

// checkLength: a file that one cannot read in a sitting is two files.
func checkLength(s source) []string {
	if s.lines > 500 {
		return []string{s.name + ": longer than 500 lines"}
	}
	return nil
}

// checkFunctions: a function fits a screen (a switch over many small cases may
// be longer), has at most four parameters, and none runs before main.
func checkFunctions(s source) (faults []string) {
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if f.Recv == nil && f.Name.Name == "init" {
			faults = append(faults, s.at(f)+": an init function")
		}
		if f.Type.Params.NumFields() > 4 {
			faults = append(faults, s.at(f)+": more than four parameters")
		}
		if s.span(f.Body)-s.longestSwitch(f.Body) > 60 {
			faults = append(faults, s.at(f)+": longer than 60 lines")
		}
	}
	return faults
}

// span is how many lines a node covers.
func (s source) span(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line
}

func (s source) longestSwitch(body ast.Node) (lines int) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			lines = max(lines, s.span(n))
		}
		return true
	})
	return lines
}

// checkGlobals: no map is built and no pattern compiled before main runs, and
// nothing is imported for its side effects.
func checkGlobals(s source) (faults []string) {
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			switch spec := spec.(type) {
			case *ast.ImportSpec:
				if spec.Name != nil && spec.Name.Name == "_" {
					faults = append(faults, s.at(spec)+": a blank import")
				}
			case *ast.ValueSpec:
				for _, v := range spec.Values {
					if g.Tok == token.VAR && builtAtStart(v) {
						faults = append(faults, s.at(spec)+": a map or pattern built at start")
					}
				}
			}
		}
	}
	return faults
}

// builtAtStart reports a map literal, make or regexp.MustCompile; a function
// that would build it later is left alone.
func builtAtStart(v ast.Expr) (found bool) {
	ast.Inspect(v, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			if _, ok := n.Type.(*ast.MapType); ok {
				found = true
			}
		case *ast.CallExpr:
			switch fun := n.Fun.(type) {
			case *ast.Ident:
				found = found || fun.Name == "make"
			case *ast.SelectorExpr:
				found = found || fun.Sel.Name == "MustCompile"
			}
		}
		return true
	})
	return found
}

var startsProcess = regexp.MustCompile(`\bos\.StartProcess\b|\bsyscall\.(ForkExec|StartProcess|Exec)\b`)

// checkProcesses: internal/proc is the only place that starts a child.
func checkProcesses(s source) (faults []string) {
	if s.room() == "internal/proc" {
		return nil
	}
	for _, i := range s.imports() {
		if i == "os/exec" {
			faults = append(faults, s.name+": os/exec outside internal/proc")
		}
	}
	if startsProcess.MatchString(s.text) {
		faults = append(faults, s.name+": starts a process outside internal/proc")
	}
	return faults
}

var usesMutex = regexp.MustCompile(`\bsync\.(RW)?Mutex\b`)

// checkMutexes: one goroutine decides, so these packages hold no lock.
func checkMutexes(s source) []string {
	switch s.room() {
	case "agent", "tools", "internal/policy", "internal/chat", "store":
		if usesMutex.MatchString(s.text) {
			return []string{s.name + ": a mutex"}
		}
	}
	return nil
}

func checkReflection(s source) (faults []string) {
	for _, i := range s.imports() {
		if i == "reflect" {
			faults = append(faults, s.name+": reflection")
		}
	}
	if strings.Contains(s.text, "context.WithValue") {
		faults = append(faults, s.name+": a value in a context")
	}
	return faults
}

// TestOneCaller: one place runs a tool, in the agent, behind all refusals.
func TestOneCaller(t *testing.T) {
	direct := regexp.MustCompile(`\.Tool\.Run\(`)
	calls := regexp.MustCompile(`\b(call|c)\.Run\(`)
	var inTools, inAgent, elsewhere int
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		inTools += len(direct.FindAllString(s.text, -1))
		switch s.room() {
		case "agent":
			inAgent += len(calls.FindAllString(s.text, -1))
		case "internal/cli", "internal/hooks", "internal/mcp", "":
			elsewhere += len(calls.FindAllString(s.text, -1))
		}
	}
	if inTools != 1 || inAgent != 1 || elsewhere != 0 {
		t.Errorf("%d places run a tool, %d in agent and %d elsewhere run a call; want 1, 1, 0", inTools, inAgent, elsewhere)
	}
}

// TestOneContainment: "is this path in that directory" is one function in a
// package, for it is easy to get wrong (/etc is not in /e).
func TestOneContainment(t *testing.T) {
	byHand := regexp.MustCompile(`(HasPrefix|CutPrefix)\([^\n]*\+ ?"/"\)`)
	found := map[string]int{}
	for _, s := range sources(t) {
		if !s.isTest() {
			found[s.room()] += len(byHand.FindAllString(s.text, -1))
		}
	}
	for room, n := range found {
		if n > 1 || n > 0 && room == "tools" {
			t.Errorf("%s: %d tests of containment by hand", room, n)
		}
	}
}

func TestStyleChecks(t *testing.T) {
	long := strings.Repeat("\tx++\n", 61)
	tests := []struct {
		check, name, text string
		faults            int
	}{
		{"length", "agent/x.go", "package x\n" + strings.Repeat("//\n", 500), 1},
		{"length", "agent/x.go", "package x\n" + strings.Repeat("//\n", 499), 0},
		{"functions", "agent/x.go", "package x\nfunc init() {}\n", 1},
		{"functions", "agent/x.go", "package x\nfunc f(a, b, c int, d, e string) {}\n", 1},
		{"functions", "agent/x.go", "package x\nfunc f(a, b, c, d int) {}\n", 0},
		{"functions", "agent/x.go", "package x\nfunc f(x int) {\n" + long + "}\n", 1},
		{"functions", "agent/x.go", "package x\nfunc f(x int) {\nswitch {\ncase true:\n" + long + "}\n}\n", 0},
		{"globals", "agent/x.go", "package x\nvar m = map[string]int{}\n", 1},
		{"globals", "agent/x.go", "package x\nvar m = make(map[string]int)\n", 1},
		{"globals", "agent/x.go", "package x\nvar l = []any{map[string]int{}}\n", 1},
		{"globals", "agent/x.go", "package x\nimport \"regexp\"\nvar r = regexp.MustCompile(`a`)\n", 1},
		{"globals", "agent/x.go", "package x\nimport _ \"embed\"\n", 1},
		{"globals", "agent/x.go", "package x\nvar f = func() any { return map[string]int{} }\nvar l = []string{\"a\"}\n", 0},
		{"processes", "tools/x.go", "package x\nimport \"os/exec\"\nvar _ = exec.Command\n", 1},
		{"processes", "tools/x.go", "package x\nimport \"os\"\nvar _ = os.StartProcess\n", 1},
		{"processes", "internal/proc/x.go", "package x\nimport \"os/exec\"\nvar _ = exec.Command\n", 0},
		{"mutexes", "agent/x.go", "package x\nimport \"sync\"\nvar m sync.Mutex\n", 1},
		{"mutexes", "internal/cli/x.go", "package x\nimport \"sync\"\nvar m sync.Mutex\n", 0},
		{"reflection", "agent/x.go", "package x\nimport \"reflect\"\nvar _ = reflect.TypeOf\n", 1},
		{"reflection", "agent/x.go", "package x\nimport \"context\"\nvar _ = context.WithValue\n", 1},
	}
	for _, tt := range tests {
		if got := styleChecks[tt.check](parse(t, tt.name, tt.text)); len(got) != tt.faults {
			t.Errorf("%s(%q) = %q, want %d faults", tt.check, tt.text[:min(80, len(tt.text))], got, tt.faults)
		}
	}
}
