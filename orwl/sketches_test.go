package orwl_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSketches reads the Go in package comments that TestListings does not run, since it leaves out
// what would make it whole. Each name of a package of this module, and each field, must be there.
func TestSketches(t *testing.T) {
	run := pages(t)
	found := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || strings.HasPrefix(name, ".") && path != ".."):
			return fs.SkipDir
		case name != "doc.go" || slices.Contains(run, strings.TrimPrefix(path, "../orwl/")) || slices.Contains(run, path):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, b := range comments(string(text)) {
			if b.fence != "go" {
				continue
			}
			found++
			if err := sketch(b.code, filepath.Dir(path)); err != nil {
				t.Errorf("%s:%d: %v", filepath.ToSlash(path), b.line, err)
			}
		}
		return nil
	})
	if err != nil || found < 15 {
		t.Errorf("only %d sketches are found: %v", found, err)
	}
}

// leftOut are the ways in which a sketch leaves something out.
var leftOut = strings.NewReplacer("{ ... }", "{}", ", ...}", "}", ", ...)", ")", "\n...\n", "\n", "\t...\n", "")

// sketch looks for the names of a sketch in the package of a folder, and in the module.
func sketch(code, dir string) (err error) {
	body := "package p\n\nfunc _() {\n" + leftOut.Replace("\n"+code) + "}\n"
	if strings.Contains(code, "func Test") || strings.Contains(code, "type ") {
		body = "package p\n" + leftOut.Replace("\n"+code)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", body, 0)
	if err != nil {
		body = "package p\n\nfunc _() {\n" + leftOut.Replace("\n"+code) + "}\n"
		if file, err = parser.ParseFile(token.NewFileSet(), "", body, 0); err != nil {
			return fmt.Errorf("it is no Go: %w", err)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if names := exported(n.X, file, dir); names != nil && !has(names, n.Sel.Name) {
				err = fmt.Errorf("package %s has no %s", n.X, n.Sel.Name)
			}
		case *ast.CompositeLit:
			of, ok := n.Type.(*ast.SelectorExpr)
			if !ok {
				break
			}
			fields := exported(of.X, file, dir)[of.Sel.Name]
			for _, e := range n.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok && fields != nil && !slices.Contains(fields, fmt.Sprint(field.Key)) {
					err = fmt.Errorf("%s.%s has no field %s", of.X, of.Sel.Name, field.Key)
				}
			}
		}
		return err == nil
	})
	return err
}

// folders are those of packages by name, and declared what has been read of folders.
var (
	folders  map[string]string
	declared = make(map[string]map[string][]string)
)

// exported are the names of the package that an expression stands for, with the fields of structs.
// It is nil if the expression stands for no package of the module. The package of dir comes first.
func exported(of ast.Expr, file *ast.File, dir string) map[string][]string {
	id, ok := of.(*ast.Ident)
	if !ok || !slices.Contains(file.Unresolved, id) {
		return nil
	}
	if folders == nil {
		folders = make(map[string]string)
		_ = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
			switch filepath.Base(path) {
			case "testdata":
				return fs.SkipDir
			case "doc.go": // as each package has one
				folders[filepath.Base(filepath.Dir(path))] = filepath.Dir(path)
			}
			return err
		})
	}
	if filepath.Base(dir) != id.Name {
		dir = folders[id.Name]
	}
	names, read := declared[dir]
	if dir == "" || read {
		return names
	}
	names = make(map[string][]string)
	declared[dir] = names
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			continue // the compiler says why
		}
		for name, o := range file.Scope.Objects {
			names[name] = fieldsOf(o.Decl)
		}
	}
	return names
}

func has(names map[string][]string, name string) bool {
	_, ok := names[name]
	return ok
}

// fieldsOf are the fields of a declared struct, or nil.
func fieldsOf(declaration any) (all []string) {
	spec, ok := declaration.(*ast.TypeSpec)
	if !ok {
		return nil
	}
	if s, ok := spec.Type.(*ast.StructType); ok {
		all = []string{}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				all = append(all, name.Name)
			}
			if of, ok := f.Type.(*ast.Ident); ok && f.Names == nil { // embedded
				all = append(all, of.Name)
			}
		}
		return all
	}
	return nil
}

// TestSketchesRefuse plants sketches of what is not there.
func TestSketchesRefuse(t *testing.T) {
	for code, good := range map[string]bool{
		"n, err := p2p.Join(ctx, p2p.Options{Key: key, ...})\n": true,
		"err = s.Shut(ctx)\n":                             true,
		"n, err := p2p.Joins(ctx, p2p.Options{})\n":       false,
		"n, err := p2p.Join(ctx, p2p.Options{Keys: 1})\n": false,
		"n, err := p2p.Join(\n":                           false,
	} {
		if err := sketch(code, "."); (err == nil) != good {
			t.Errorf("%q: %v", code, err)
		}
	}
}
