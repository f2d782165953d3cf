package orwl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// noUser are folders whose errors docs/reference/errors.md leaves out: programs, tests, and
// packages for authors of a window or a network.
var noUser = []string{
	"apps", "cmd", "examples", "dashboards", "deploy", "docs", "lab", "locks/lockstest",
	"net/engine", "net/node", "net/rmatest", "net/shm", "net/sim", "net/wire",
}

var errorRow = regexp.MustCompile("(?m)^\\| `([a-z0-9]+\\.[A-Z]\\w*)` \\| [^|]+ \\| [^|]+ \\|$")

// TestErrorsPage compares the page of errors with those that packages export.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range errorRow.FindAllStringSubmatch(string(page), -1) {
		shown = append(shown, m[1])
	}
	exported := exportedErrors(t, "..")
	if len(exported) < 50 {
		t.Fatalf("only %d errors are found", len(exported))
	}
	for _, name := range exported {
		if !slices.Contains(shown, name) {
			t.Errorf("errors.md does not have a row for %s, with what happened and what to do", name)
		}
	}
	for i, name := range shown {
		if !slices.Contains(exported, name) {
			t.Errorf("errors.md has %s, and no package does", name)
		}
		if slices.Contains(shown[:i], name) {
			t.Errorf("errors.md has %s twice", name)
		}
	}
}

// exportedErrors are the names, with their packages, of variables and types that are errors.
func exportedErrors(t *testing.T, root string) (names []string) {
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		at = filepath.ToSlash(at)
		if d.IsDir() {
			name := d.Name()
			if at != "." && (strings.HasPrefix(name, ".") || name == "internal" || name == "testdata" || slices.Contains(noUser, at)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, name := range errorNames(parsed) {
			names = append(names, path.Base(path.Dir(at))+"."+name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names) // one for each system
}

// errorNames are the exported errors of a file.
func errorNames(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range general.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if general.Tok == token.VAR && strings.HasPrefix(id.Name, "Err") {
						names = append(names, id.Name)
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Error") {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}
