package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A tree is a module's source.
type tree struct {
	fset     *token.FileSet
	packages []*pkg
}

// A pkg is the Go files of one folder, for every platform and build tag, and its tests.
type pkg struct {
	path  string // folder below the module's root
	name  string // of its package clause
	files []*file

	// uses tells what an identifier stands for, as far as that can be known
	// without reading imported packages: names of imports, and everything
	// declared in the package itself.
	uses map[*ast.Ident]types.Object
}

type file struct {
	*ast.File
	path string // below the module's root
	test bool   // is it a _test.go file
}

// isModule reports whether a folder is the root of a module.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// load reads the module whose root is the folder root, and which is the folder at in the rules. As the go command does,
// it leaves out folders called testdata, those that begin with a dot or an
// underscore, and other modules.
func load(root, at string) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(os.DirFS(root), ".", func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case dir != "." && (d.Name() == "testdata" || strings.ContainsAny(d.Name()[:1], "._") || isModule(filepath.Join(root, dir))):
			return fs.SkipDir
		}
		return t.loadPackage(root, dir, path.Join(at, dir))
	})
	return t, err
}

// loadPackage adds the package in the folder dir, if there is one. Its path in the rules is in.
func (t *tree) loadPackage(root, dir, in string) error {
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil || len(names) == 0 {
		return err
	}
	p := &pkg{path: in, uses: make(map[*ast.Ident]types.Object)}
	units := make(map[string][]*ast.File) // package clause to files: p, p_test
	for _, name := range names {
		below := path.Join(in, filepath.Base(name))
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(t.fset, below, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := &file{File: parsed, path: below, test: strings.HasSuffix(below, "_test.go")}
		p.files = append(p.files, f)
		units[parsed.Name.Name] = append(units[parsed.Name.Name], parsed)
		if !f.test {
			p.name = parsed.Name.Name
		}
	}
	for name, files := range units {
		t.resolve(name, files, p.uses)
	}
	t.packages = append(t.packages, p)
	return nil
}

// resolve adds to uses what the identifiers in files stand for. Files of different platforms
// declare the same names, and imports are not loaded. Both make type errors, which do not
// matter here.
func (t *tree) resolve(name string, files []*ast.File, uses map[*ast.Ident]types.Object) {
	conf := types.Config{
		Importer:    blind{},
		FakeImportC: true,
		Error:       func(error) {},
	}
	_, _ = conf.Check(name, t.fset, files, &types.Info{Uses: uses})
}

// blind is an importer that finds nothing. go/types then makes do with an
// import's path.
type blind struct{}

func (blind) Import(string) (*types.Package, error) { return nil, errors.New("not looked into") }

// imported is the path of the import that id stands for, or "".
func (p *pkg) imported(id *ast.Ident) string {
	if name, ok := p.uses[id].(*types.PkgName); ok {
		return name.Imported().Path()
	}
	return ""
}

// called takes expressions such as time.Now apart, into the import path and the
// name. It looks at mentions, not only at calls: a function that is passed on
// gets called too.
func (p *pkg) called(n ast.Node) (importPath, name string) {
	if sel, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok {
			return p.imported(x), sel.Sel.Name
		}
	}
	return "", ""
}

// at is a position as file:line.
func (t *tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
