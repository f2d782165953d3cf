package orwl

import (
	"bufio"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A step is counted by a test that runs with counters, first with some steps, then with more. The functions that the second
// run passes more often are the step.

// modulePath is the root of all import paths here.
const modulePath = "github.com/orwl/go-orwl/"

// counted is the test of the package in the current folder, with counters.
type counted struct {
	t    testing.TB
	path string
	root string // the folder of the module, seen from here

	parsed map[string][]funcEnd // of files
}

// funcEnd is where a function ends.
type funcEnd struct {
	line, col int
	name      string
}

// buildCounted builds the test with counters in some packages, such as "handle" and "resource/...".
func buildCounted(t testing.TB, packages ...string) *counted {
	t.Helper()
	p := &counted{t: t, path: filepath.Join(t.TempDir(), "counted"), parsed: make(map[string][]funcEnd)}
	p.root = strings.TrimSpace(p.run("go", "list", "-m", "-f", "{{.Dir}}"))
	for i := range packages {
		packages[i] = modulePath + packages[i]
	}
	p.run("go", "test", "-c", "-covermode=count", "-coverpkg="+strings.Join(packages, ","), "-o", p.path, ".")
	return p
}

func (p *counted) run(name string, args ...string) string {
	p.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// passed are the functions that a step passes, by file. args are the arguments of the test for so many steps. A function
// that less than one of ten steps passes is none. Functions that the compiler inlines count, and what a function defines
// within is part of it.
func (p *counted) passed(steps int, args func(steps int) []string) map[string][]string {
	p.t.Helper()
	few, many := p.count(args(steps)), p.count(args(2*steps))
	passed := make(map[string][]string)
	for b, n := range many {
		if (n-few[b])*10 < steps {
			continue
		}
		file := strings.TrimPrefix(b.file, modulePath)
		if name := p.function(b); !slices.Contains(passed[file], name) {
			passed[file] = append(passed[file], name)
		}
	}
	return passed
}

// checkStep logs what a step passes, and complains if it is more than so many functions and files, or nothing.
func checkStep(t testing.TB, passed map[string][]string, functions, files int) {
	t.Helper()
	all := 0
	for _, file := range slices.Sorted(maps.Keys(passed)) {
		all += len(passed[file])
		slices.Sort(passed[file])
		t.Logf("%s: %s", file, strings.Join(passed[file], ", "))
	}
	t.Logf("%d functions in %d files", all, len(passed))
	switch {
	case all == 0:
		t.Error("nothing was counted")
	case all > functions || len(passed) > files:
		t.Errorf("the step has grown: want at most %d functions in %d files", functions, files)
	}
}

// countedBlock is a piece of code that the go command counts.
type countedBlock struct {
	file      string
	line, col int
}

// count runs the test and returns how often each block was passed.
func (p *counted) count(args []string) map[countedBlock]int {
	p.t.Helper()
	profile := filepath.Join(p.t.TempDir(), "profile")
	p.run(p.path, append(args, "-test.coverprofile="+profile)...)
	f, err := os.Open(profile)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	counts := make(map[countedBlock]int)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, rest, _ := strings.Cut(lines.Text(), ":")
		var line, col, endLine, endCol, statements, n int
		if k, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &line, &col, &endLine, &endCol, &statements, &n); k == 6 {
			counts[countedBlock{file, line, col}] += n
		}
	}
	return counts
}

// function is the name of the function that a block is in.
func (p *counted) function(b countedBlock) string {
	if p.parsed[b.file] == nil {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.Join(p.root, strings.TrimPrefix(b.file, modulePath)), nil, parser.SkipObjectResolution)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				end := files.Position(d.End())
				p.parsed[b.file] = append(p.parsed[b.file], funcEnd{end.Line, end.Column, receiver(d) + d.Name.Name})
			}
		}
	}
	all := p.parsed[b.file]
	at, _ := slices.BinarySearchFunc(all, b, func(e funcEnd, b countedBlock) int {
		return cmp.Or(cmp.Compare(e.line, b.line), cmp.Compare(e.col, b.col))
	})
	return all[at].name
}

// receiver is the type that a function is a method of, and a dot.
func receiver(d *ast.FuncDecl) (name string) {
	if d.Recv != nil {
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && name == "" {
				name = id.Name + "."
			}
			return name == ""
		})
	}
	return name
}
