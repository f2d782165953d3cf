package guests

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/orwl/go-orwl/"

// programs are the folders of programs.
var programs = []string{"apps/", "examples/", "cmd/"}

// Name is an exported name of a package: a type, a function, a value, or a field or method of an exported type.
type Name struct {
	Package string // its folder
	Name    string // such as "Task.Each"
	Guests  []string
}

// Program reports whether a program is among the guests.
func (n Name) Program() bool {
	return slices.ContainsFunc(n.Guests, func(guest string) bool {
		return slices.ContainsFunc(programs, func(p string) bool { return strings.HasPrefix(guest, p) })
	})
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// Of are the names of some packages, with the packages outside that use them. root is the folder of the module.
func Of(root string, faces ...string) ([]Name, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	h := house{fset: token.NewFileSet(), exports: make(map[string]string), faces: faces, names: make(map[string]*Name)}
	h.imports = importer.ForCompiler(h.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(h.exports[path]) })
	var own []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		h.exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			own = append(own, p)
		}
	}
	for _, p := range own {
		if err := h.read(p); err != nil {
			return nil, err
		}
	}
	var all []Name
	for _, key := range slices.Sorted(maps.Keys(h.names)) {
		n := h.names[key]
		if n.Name == "" {
			continue // it is used, but belongs to no face
		}
		slices.Sort(n.Guests)
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Name) int { return strings.Compare(a.Package+" "+a.Name, b.Package+" "+b.Name) })
	return all, nil
}

// house is what is known of the packages so far.
type house struct {
	fset    *token.FileSet
	exports map[string]string // the files of compiled packages
	imports types.Importer
	faces   []string
	names   map[string]*Name // by where they are declared
}

// read adds a package: the names of a face, and what it uses.
func (h *house) read(p listed) error {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(h.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	read, err := (&types.Config{Importer: h.imports}).Check(p.ImportPath, h.fset, files, info)
	if err != nil {
		return err
	}
	here := strings.TrimPrefix(p.ImportPath, module)
	for _, o := range info.Uses {
		if n := h.name(o); n != nil && n.Package != here && !slices.Contains(n.Guests, here) {
			n.Guests = append(n.Guests, here)
		}
	}
	if slices.Contains(h.faces, here) {
		for _, name := range read.Scope().Names() {
			h.declare(read.Scope().Lookup(name))
		}
	}
	return nil
}

// declare notes an exported name, and the names of its fields and methods.
func (h *house) declare(o types.Object) {
	if !o.Exported() {
		return
	}
	h.name(o).Name = o.Name()
	named, is := o.Type().(*types.Named)
	if _, of := o.(*types.TypeName); !of || !is || named.Obj() != o {
		return
	}
	part := func(o types.Object) {
		if n := h.name(o); n != nil { // nil: an unexported one, or a field of another package's type
			n.Name = named.Obj().Name() + "." + o.Name()
		}
	}
	for m := range named.Methods() {
		part(m)
	}
	switch t := named.Underlying().(type) {
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Embedded() {
				part(f)
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			part(m)
		}
	}
}

// name is the record of what is exported by a face, nil for anything else.
func (h *house) name(o types.Object) *Name {
	switch x := o.(type) {
	case *types.Func:
		o = x.Origin()
	case *types.Var:
		o = x.Origin()
	}
	if o.Pkg() == nil || !o.Exported() {
		return nil
	}
	of := strings.TrimPrefix(o.Pkg().Path(), module)
	if !slices.Contains(h.faces, of) {
		return nil
	}
	// A compiled package knows the line of what it declares, and no column.
	at := h.fset.Position(o.Pos())
	key := fmt.Sprintf("%s %s %s:%d", of, o.Name(), filepath.Base(at.Filename), at.Line)
	if h.names[key] == nil {
		h.names[key] = &Name{Package: of}
	}
	return h.names[key]
}
