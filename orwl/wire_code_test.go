package orwl_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wireCode has the packages that were read, by their folders, and the names of streams.
type wireCode struct {
	packages  map[string]wirePackage
	protocols []string
}

// wirePackage is a package, as far as it can be known without its imports.
type wirePackage struct{ scope *types.Scope }

// of reads a package. Its constants have values, also those that are made of package time's.
func (c wireCode) of(t *testing.T, dir string) wirePackage {
	t.Helper()
	if p, ok := c.packages[dir]; ok {
		return p
	}
	var files []*ast.File
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, wrong := parser.ParseFile(set, path, nil, 0)
			files, err = append(files, file), errors.Join(err, wrong)
		}
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	config := types.Config{Importer: onlyTime{}, IgnoreFuncBodies: true, Error: func(error) {}} // other imports are missing
	checked, _ := config.Check(dir, set, files, nil)
	p := wirePackage{checked.Scope()}
	c.packages[dir] = p
	return p
}

// onlyTime is an importer of package time's seconds.
type onlyTime struct{}

func (onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, errors.New("not needed")
	}
	p := types.NewPackage(path, path)
	for name, ns := range map[string]int64{"Millisecond": 1e6, "Second": 1e9} {
		p.Scope().Insert(types.NewConst(token.NoPos, p, name, types.Typ[types.Int64], constant.MakeInt64(ns)))
	}
	p.MarkComplete()
	return p, nil
}

// value is a constant's.
func (p wirePackage) value(name string) string {
	if c, ok := p.scope.Lookup(name).(*types.Const); ok {
		return c.Val().ExactString()
	}
	return "no constant"
}

var inside = regexp.MustCompile(`[a-z][A-Z]`)

// named are the exported constants of a type, as the page has them: "11 fetch-op" is KindFetchOp.
func (p wirePackage) named(of string) (all []string) {
	between := map[bool]string{true: "-", false: " "}[of == "Kind"]
	for _, name := range p.scope.Names() {
		c, ok := p.scope.Lookup(name).(*types.Const)
		if !ok || !c.Exported() || !strings.HasSuffix(c.Type().String(), "."+of) {
			continue
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, of), "Message")
		name = inside.ReplaceAllStringFunc(name, func(s string) string { return s[:1] + between + s[1:] })
		n, _ := constant.Int64Val(c.Val())
		all = append(all, fmt.Sprintf("%3d %s", n, strings.ToLower(name)))
	}
	slices.Sort(all)
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// tags are the names that the fields of a struct have in a map.
func (p wirePackage) tags(of string) (all []string) {
	is, ok := p.scope.Lookup(of).(*types.TypeName)
	if !ok {
		return nil
	}
	if fields, ok := is.Type().Underlying().(*types.Struct); ok {
		for i := range fields.NumFields() {
			name, _, _ := strings.Cut(reflect.StructTag(fields.Tag(i)).Get("msgpack"), ",")
			if name != "" && name != "-" {
				all = append(all, name)
			}
		}
	}
	return unique(all)
}

// quantity is a number of the page, in bytes or nanoseconds.
func quantity(t *testing.T, says string) string {
	t.Helper()
	number, unit, _ := strings.Cut(strings.ReplaceAll(says, ",", ""), " ")
	factor := map[string]string{"": "1", "KiB": "1 << 10", "MiB": "1 << 20", "GiB": "1 << 30", "s": "1_000_000_000"}[unit]
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, number+" * ("+factor+")")
	if err != nil {
		t.Fatalf("%q: %v", says, err)
	}
	return v.Value.ExactString()
}
