package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSketches reads the Go in package comments that TestListings does not run, since it leaves out
// what would make it whole. Each name of a package of ours, and each field, must be there.
func TestSketches(t *testing.T) {
	run := withListings(t)
	names := newNames(modules...)
	for i, few := range []int{15, 6} {
		found := 0
		for _, path := range named(t, modules[i], "/doc.go") {
			if slices.Contains(run, path) {
				continue
			}
			for _, b := range comments(read(t, path)) {
				if b.fence != "go" {
					continue
				}
				found++
				if err := names.sketch(b.code, filepath.Dir(path)); err != nil {
					t.Errorf("%s:%d: %v", path, b.line, err)
				}
			}
		}
		if found < few {
			t.Errorf("only %d sketches are found in %s", found, modules[i])
		}
	}
}

// TestSketchRefuses plants sketches of what is not there.
func TestSketchRefuses(t *testing.T) {
	names := newNames(modules...)
	for code, good := range map[string]bool{
		"n, err := p2p.Join(ctx, p2p.Options{Key: key, ...})\n": true,
		"err = s.Shut(ctx)\n":                             true,
		"n, err := p2p.Joins(ctx, p2p.Options{})\n":       false,
		"n, err := p2p.Join(ctx, p2p.Options{Keys: 1})\n": false,
		"n, err := p2p.Join(\n":                           false,
	} {
		if err := names.sketch(code, "../../orwl"); (err == nil) != good {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// leftOut are the ways in which a sketch leaves something out.
var leftOut = strings.NewReplacer("{ ... }", "{}", ", ...}", "}", ", ...)", ")", "\n...\n", "\n", "\t...\n", "")

// names are the exported names of packages.
type names struct {
	folders  map[string]string // of packages by name
	declared map[string]map[string][]string
}

// newNames finds the packages of modules by their folders.
func newNames(modules ...string) *names {
	n := &names{folders: make(map[string]string), declared: make(map[string]map[string][]string)}
	for _, root := range modules {
		_ = walk(root, func(path string) error {
			if filepath.Base(path) == "doc.go" { // each package has one
				n.folders[filepath.Base(filepath.Dir(path))] = filepath.Dir(path)
			}
			return nil
		})
	}
	return n
}

// sketch looks for the names of Go that leaves things out, in the package of a folder and in the modules.
func (n *names) sketch(code, dir string) (err error) {
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
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if names := n.exported(node.X, file, dir); names != nil && !has(names, node.Sel.Name) {
				err = fmt.Errorf("package %s has no %s", node.X, node.Sel.Name)
			}
		case *ast.CompositeLit:
			of, ok := node.Type.(*ast.SelectorExpr)
			if !ok {
				break
			}
			fields := n.exported(of.X, file, dir)[of.Sel.Name]
			for _, e := range node.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok && fields != nil && !slices.Contains(fields, fmt.Sprint(field.Key)) {
					err = fmt.Errorf("%s.%s has no field %s", of.X, of.Sel.Name, field.Key)
				}
			}
		}
		return err == nil
	})
	return err
}

// exported are the names of the package that an expression stands for, with the fields of structs.
// It is nil if the expression stands for no package of the modules. The package of dir comes first.
func (n *names) exported(of ast.Expr, file *ast.File, dir string) map[string][]string {
	id, ok := of.(*ast.Ident)
	if !ok || !slices.Contains(file.Unresolved, id) {
		return nil
	}
	if filepath.Base(dir) != id.Name {
		dir = n.folders[id.Name]
	}
	names, read := n.declared[dir]
	if dir == "" || read {
		return names
	}
	names = make(map[string][]string)
	n.declared[dir] = names
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
