package pages

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports are the packages that a listing may use without an import.
var imports = map[string]string{
	"binary": "encoding/binary", "bytes": "bytes", "strings": "strings", "context": "context", "errors": "errors", "fmt": "fmt", "io": "io", "math": "math",
	"os": "os", "filepath": "path/filepath", "files": "github.com/orwl/go-orwl/orwl/stencil/files", "sync": "sync", "time": "time", "prometheus": "github.com/prometheus/client_golang/prometheus",
	"handle": "github.com/orwl/go-orwl/handle", "liveness": "github.com/orwl/go-orwl/orwl/liveness",
	"locks": "github.com/orwl/go-orwl/locks", "lockers": "github.com/orwl/go-orwl/locks/lockers", "mem": "github.com/orwl/go-orwl/net/mem",
	"metrics": "github.com/orwl/go-orwl/metrics", "orwl": "github.com/orwl/go-orwl/orwl",
	"picture": "github.com/orwl/go-orwl/orwl/stencil/picture", "rma": "github.com/orwl/go-orwl/net/rma",
	"resource": "github.com/orwl/go-orwl/resource", "session": "github.com/orwl/go-orwl/orwl/session",
	"stencil": "github.com/orwl/go-orwl/orwl/stencil", "topology": "github.com/orwl/go-orwl/net/topology",
	"trace": "github.com/orwl/go-orwl/orwl/trace",
}

// source is the listing as a file of a program: a function with its number. Compiler
// errors have the lines of the page.
func (l listing) source(number int) (string, error) {
	page, err := filepath.Abs(l.page)
	if err != nil {
		return "", err
	}
	position := fmt.Sprintf("//line %s:%d\n", page, l.line)
	if strings.HasPrefix(l.code, "package main\n") {
		program, err := numbered(l.code, number)
		if err != nil {
			return "", fmt.Errorf("%s: %w", l.at(), err)
		}
		return position + program + fmt.Sprintf("\nfunc listing%d(context.Context) error { main%d(); return nil }\n", number, number), nil
	}
	body := fmt.Sprintf("func listing%d(ctx context.Context) error {\n%s%s\nreturn nil\n}\n", number, position, l.code)
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+body, 0)
	if err != nil {
		return "", fmt.Errorf("%s is no Go: %w", l.at(), err)
	}
	var head strings.Builder
	head.WriteString("package main\n")
	for _, name := range unresolved(file) {
		if path := imports[name]; path != "" {
			fmt.Fprintf(&head, "import %q\n", path)
		}
	}
	return head.String() + body, nil
}

// numbered is a program whose names have a number, so that it can stand beside others.
func numbered(program string, number int) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", program, 0)
	if err != nil {
		return "", err
	}
	if file.Scope.Lookup("main") == nil {
		return "", errors.New("a program without func main")
	}
	var ends []int // of the names
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Obj != nil && file.Scope.Lookup(id.Name) == id.Obj {
			ends = append(ends, set.Position(id.End()).Offset)
		}
		return true
	})
	slices.Sort(ends)
	for _, end := range slices.Backward(slices.Compact(ends)) {
		program = program[:end] + strconv.Itoa(number) + program[end:]
	}
	return program, nil
}

// unresolved are the names that a file uses but does not declare.
func unresolved(file *ast.File) (names []string) {
	for _, ident := range file.Unresolved {
		names = append(names, ident.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestListingsRefuse plants every mistake that a page can make.
func TestListingsRefuse(t *testing.T) {
	const good = "text\n\n```go\nfmt.Println(1)\n// Output:\n// 1\n```\n\n    go run ./apps/llk23\n\n```\nfree text\n```\n```text\nx := p.F()\n```\n"
	all, err := listings("page.md", good)
	if err != nil || len(all) != 1 || all[0].line != 4 || all[0].check(" 1 \n") != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if all[0].check("2") == nil {
		t.Error("another output is not seen")
	}
	if all, err := listings("doc.go", "// Package p.\n//\n//\tfmt.Println(1)\n//\n//\t// Output:\n//\t// 1\npackage p\n"); err != nil ||
		len(all) != 1 || all[0].line != 3 || all[0].code != "fmt.Println(1)\n\n// Output:\n// 1\n" {
		t.Errorf("%+v, %v", all, err)
	}
	for page, text := range map[string]string{
		"indented.md": "text\n\n    r, err := f()\n",
		"unnamed.md":  "```\nrt.Policy(r, p)\n```\n",
		"silent.md":   "```go\nfmt.Println(1)\n```\n",
		"other.md":    "```go ignore\nfmt.Println(1)\n// Output:\n// 1\n```\n",
		"silent/a.go": "// Package p.\n//\n//\tx := 1\npackage p\n",
		"generics.md": "text\n\n    v = orwl.Read[float64](a)\n",
	} {
		if _, err := listings(page, text); err == nil || !strings.Contains(err.Error(), page) {
			t.Errorf("%s passes: %v", page, err)
		}
	}
	if all, err := listings("page.md", "```go not run: needs a friend\nf()\n```\n"); err != nil || len(all) != 1 || all[0].reason != "needs a friend" {
		t.Errorf("%+v, %v", all, err)
	}
	const two = "package main\n\ntype t struct{ f int }\n\nfunc f() int { return t{f: 1}.f }\n\nfunc main() { f := f(); print(f) }\n"
	const renamed = "package main\n\ntype t3 struct{ f int }\n\nfunc f3() int { return t3{f: 1}.f }\n\nfunc main3() { f := f3(); print(f) }\n"
	if got, err := numbered(two, 3); err != nil || got != renamed {
		t.Errorf("%v\n%s", err, got)
	}
	for _, code := range []string{"h.Acquire(ctx)\n...\n", "package main\n", "package main\n\nfunc f() {\n"} {
		if _, err := (listing{page: "page.md", code: code}).source(0); err == nil {
			t.Errorf("%q is a listing", code)
		}
	}
}
