package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"strconv"
	"strings"
)

// impure are the standard library's functions that start something, or read or
// wait for something, that the simulator could not see.
var impure = map[string]map[string]rule{
	"time": {
		"Now": clock, "Since": clock, "Until": clock, "Sleep": clock, "After": clock, "AfterFunc": clock,
		"Tick": clock, "NewTimer": clock, "NewTicker": clock,
	},
	"context": {
		"WithTimeout": clock, "WithTimeoutCause": clock, "WithDeadline": clock, "WithDeadlineCause": clock,
		"AfterFunc": goroutine,
	},
	"runtime": {"Gosched": spin},
}

// random are the packages that no two runs get the same numbers from.
var random = []string{"math/rand", "math/rand/v2", "crypto/rand", "hash/maphash"}

// A rule is the word to find it by, and what to do instead.
type rule struct{ name, instead string }

var (
	goroutine = rule{"goroutine", "pure code starts none: take a step function's message instead"}
	clock     = rule{"clock", "pure code has none: let the caller pass time in"}
	spin      = rule{"spin", "wait through Window.Await, back off through Window.Pause"}
)

// checkPure reports what hides concurrency, time, chance or state from the
// simulator in a package whose row says pure. Its tests are free.
func (t *tree) checkPure(p *pkg) (found []violation) {
	if r := row(p.path); r == nil || !r.pure {
		return nil
	}
	report := func(n ast.Node, name, format string, args ...any) {
		found = append(found, violation{t.at(n), name, fmt.Sprintf(format, args...)})
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, spec := range f.Imports {
			for _, path := range random {
				if spec.Path.Value == strconv.Quote(path) {
					report(spec, "random", "import of %s: pure code draws no random number, let the caller pass it in", path)
				}
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n, goroutine.name, "go statement: %s", goroutine.instead)
			case *ast.CallExpr:
				// sync.WaitGroup.Go, errgroup.Group.Go: by custom, Go is go.
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
					report(n, goroutine.name, "call of a method Go: %s", goroutine.instead)
				}
			case *ast.SelectorExpr:
				path, name := p.called(n)
				if rule, ok := impure[path][name]; ok {
					report(n, rule.name, "%s.%s: %s", path, name, rule.instead)
				}
			}
			return true
		})
	}
	return append(found, t.checkGlobals(p)...)
}

// checkGlobals reports package-level variables that are, or may become, state. It allows var _
// = ..., errors, and tables that nothing writes.
func (t *tree) checkGlobals(p *pkg) (found []violation) {
	tables := make(map[token.Pos]string) // where a table is declared
	for _, f := range p.files {
		for spec := range variables(f) {
			for i, name := range spec.Names {
				switch {
				case f.test, name.Name == "_", p.isError(name, spec, i):
				case p.isTable(spec, i):
					tables[name.Pos()] = name.Name
				default:
					found = append(found, violation{t.at(name), "global",
						"var " + name.Name + " is state: keep it in a value that the caller owns (errors, and tables written as literals, are fine)"})
				}
			}
		}
	}
	for _, f := range p.files {
		for _, id := range written(f) {
			object, ok := p.uses[id].(*types.Var)
			if !ok {
				continue
			}
			if name, ok := tables[object.Pos()]; ok {
				found = append(found, violation{t.at(id), "global", "the table " + name + " is written or its address taken here: keep it in a value that the caller owns"})
			}
		}
	}
	return found
}

// isError reports whether the i-th variable of spec is an error that the package
// exports or matches: a new one, or another package's error under a name here.
func (p *pkg) isError(name *ast.Ident, spec *ast.ValueSpec, i int) bool {
	if i >= len(spec.Values) || !strings.HasPrefix(strings.ToLower(name.Name), "err") {
		return false
	}
	call, ok := spec.Values[i].(*ast.CallExpr)
	if !ok {
		_, name := p.called(spec.Values[i])
		return strings.HasPrefix(name, "Err")
	}
	path, function := p.called(call.Fun)
	return path == "errors" && function == "New" || path == "fmt" && function == "Errorf"
}

// isTable reports whether the i-th variable of spec is a literal without a lock
// or an atomic in it.
func (p *pkg) isTable(spec *ast.ValueSpec, i int) bool {
	if i >= len(spec.Values) {
		return false
	}
	if _, ok := spec.Values[i].(*ast.CompositeLit); !ok {
		return false
	}
	plain := true
	ast.Inspect(spec, func(n ast.Node) bool {
		if path, _ := p.called(n); path == "sync" || path == "sync/atomic" {
			plain = false
		}
		return plain
	})
	return plain
}

// written lists the variables that f assigns to, wholly or in part, or takes the
// address of.
func written(f *file) (ids []*ast.Ident) {
	add := func(targets ...ast.Expr) {
		for _, target := range targets {
			if id := root(target); id != nil {
				ids = append(ids, id)
			}
		}
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key, n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 {
				switch f.Name {
				case "delete", "clear", "copy":
					add(n.Args[0])
				}
			}
		}
		return true
	})
	return ids
}

// root is the variable that an expression such as a.b[i] is a part of, or nil.
func root(x ast.Expr) *ast.Ident {
	for {
		switch y := x.(type) {
		case *ast.Ident:
			return y
		case *ast.SelectorExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.SliceExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return nil
		}
	}
}

// variables are the declarations of f's package-level variables.
func variables(f *file) iter.Seq[*ast.ValueSpec] {
	return func(yield func(*ast.ValueSpec) bool) {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					if !yield(spec.(*ast.ValueSpec)) {
						return
					}
				}
			}
		}
	}
}
