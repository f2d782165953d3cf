package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Block is code of a page, and what its fence says.
type Block struct {
	Line  int // of its first line
	Fence string
	Code  string
}

// Blocks are the code blocks of Markdown: fenced, or indented by four spaces.
func Blocks(text string) (all []Block) {
	var b *Block
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced && isFence:
			fenced, b = false, nil
		case fenced:
			b.Code += line + "\n"
		case isFence:
			all = append(all, Block{Line: i + 2, Fence: fence})
			fenced, b = true, &all[len(all)-1]
		case !indented:
			b = nil
		case b == nil:
			all = append(all, Block{Line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.Code += code + "\n"
		}
	}
	return all
}

// Comments are the code blocks of a package comment that contain Go.
func Comments(text string) (all []Block) {
	var b *Block
	blank := ""
	for i, line := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(line, "//\t")
		switch {
		case line == "//" && b != nil:
			blank += "\n"
			continue
		case !indented:
			b = nil
		case b == nil:
			all = append(all, Block{Line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.Code += blank + code + "\n"
		}
		blank = ""
	}
	for i := range all {
		if Calls.MatchString(all[i].Code) {
			all[i].Fence = "go"
		}
	}
	return all
}

// Calls matches a line of Go: a definition, or a call of an exported name.
var Calls = regexp.MustCompile(`:=|\b[a-z]\w*\.[A-Z]\w*(\[\w+\])?\(`)

// leftOut are the ways in which a sketch leaves something out.
var leftOut = strings.NewReplacer("{ ... }", "{}", ", ...}", "}", ", ...)", ")", "\n...\n", "\n", "\t...\n", "")

// Names are the exported names of packages.
type Names struct {
	folders  map[string]string // of packages by name
	declared map[string]map[string][]string
}

// NewNames finds the packages of modules by their folders.
func NewNames(modules ...string) *Names {
	n := &Names{folders: make(map[string]string), declared: make(map[string]map[string][]string)}
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

// Sketch looks for the names of Go that leaves things out, in the package of a folder and in the modules.
func (n *Names) Sketch(code, dir string) (err error) {
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
func (n *Names) exported(of ast.Expr, file *ast.File, dir string) map[string][]string {
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
