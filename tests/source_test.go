package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// root is the project's directory, seen from this package.
const root = ".."

// source is one Go file of the project.
type source struct {
	name  string // slash-separated, from the root
	text  string
	fset  *token.FileSet
	ast   *ast.File
	lines int
}

// room is the package's directory from the root, "" for the root itself.
func (s source) room() string {
	if dir := path.Dir(s.name); dir != "." {
		return dir
	}
	return ""
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// imports are the paths that the file imports.
func (s source) imports() []string {
	var list []string
	for _, i := range s.ast.Imports {
		list = append(list, strings.Trim(i.Path.Value, `"`))
	}
	return list
}

// at names a place in the file for a message.
func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return s.name + ":" + strconv.Itoa(p.Line)
}

// ignored says whether git would leave a name at the root alone.
func ignored(name string) bool {
	switch name {
	case ".git", "dist", "cluade", ".scratch":
		return true
	}
	return false
}

// sources reads every Go file of the project.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			if ignored(name) || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		list = append(list, parse(t, name, string(text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 5 {
		t.Fatalf("only %d Go files found below %s", len(list), root)
	}
	return list
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return source{name, text, fset, file, strings.Count(text, "\n")}
}
