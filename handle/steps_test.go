package handle_test

import (
	"bufio"
	"cmp"
	"context"
	"flag"
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

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/resource"
)

var (
	stepsOf  = flag.String("handle.steps", "", "TestStep: which steps; TestStepIsShort sets it")
	howOften = flag.Int("handle.often", 0, "TestStep: how many")
)

// stepBars are how many functions a step may pass, in how many files. A step passes from
// the end of an access to the next one of its pair: Next, and Acquire. It passes package
// handle and what is below, at both nodes if there are two. The transport is not counted:
// it is the test's own. A function is one with a name; what it defines within is part of
// it. Functions that the compiler inlines count, too.
//
// The goals are 15 functions in 5 files for a local step, and 60 in 15 for a remote one. The
// bars hold today, so that no step grows. A change that shortens a step lowers its bar.
var stepBars = map[string]struct{ functions, files int }{
	"local":          {20, 7},
	"remote":         {93, 22},
	"remote, writes": {116, 27},
}

// module is the root of all import paths here.
const module = "github.com/orwl/go-orwl/"

// TestStepIsShort counts what one step of a pair passes: it runs TestStep with counters,
// first with some steps, then with more. The step is what the second run counts more often.
func TestStepIsShort(t *testing.T) {
	rings.Needs(t, rings.Change)
	if testing.Short() || invariant.Enabled || *stepsOf != "" {
		t.Skip("needs the go command and some seconds, and the ordinary build: asserts are no part of a step")
	}
	program := filepath.Join(t.TempDir(), "counted")
	run(t, "go", "test", "-c", "-covermode=count", "-coverpkg="+module+"handle,"+module+"resource/...,"+module+"internal/...,"+module+"net/wire,"+module+"locks/...", "-o", program, ".")
	for _, what := range slices.Sorted(maps.Keys(stepBars)) {
		t.Run(what, func(t *testing.T) {
			bar := stepBars[what]
			few, many := count(t, program, what, 16), count(t, program, what, 32)
			passed := make(map[string]map[string]bool) // the functions of a file
			all := 0
			for b, n := range many {
				if n == few[b] {
					continue
				}
				if passed[b.file] == nil {
					passed[b.file] = make(map[string]bool)
				}
				if name := functionOf(t, b); !passed[b.file][name] {
					passed[b.file][name] = true
					all++
				}
			}
			t.Logf("%d functions in %d files", all, len(passed))
			for _, file := range slices.Sorted(maps.Keys(passed)) {
				t.Logf("%s: %s", strings.TrimPrefix(file, module), strings.Join(slices.Sorted(maps.Keys(passed[file])), ", "))
			}
			if all == 0 {
				t.Fatal("nothing was counted")
			}
			if all > bar.functions || len(passed) > bar.files {
				t.Errorf("the step has grown: want at most %d functions in %d files", bar.functions, bar.files)
			}
		})
	}
}

// block is a piece of code that the go command counts.
type block struct {
	file      string
	line, col int
}

// count runs steps and returns how often each block was passed.
func count(t *testing.T, program, what string, often int) map[block]int {
	profile := filepath.Join(t.TempDir(), fmt.Sprint(often))
	run(t, program, "-test.run=^TestStep$", "-handle.steps="+what, fmt.Sprint("-handle.often=", often), "-test.coverprofile="+profile)
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := make(map[block]int)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, rest, _ := strings.Cut(lines.Text(), ":")
		var line, col, endLine, endCol, statements, n int
		if k, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &line, &col, &endLine, &endCol, &statements, &n); k == 6 {
			counts[block{file, line, col}] += n
		}
	}
	return counts
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// parsed are files and where their functions end, in their order.
var parsed = make(map[string][]ending)

type ending struct {
	line, col int
	name      string
}

// functionOf is the name of the function that a block is in.
func functionOf(t *testing.T, b block) string {
	if parsed[b.file] == nil {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.Join("..", strings.TrimPrefix(b.file, module)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				end := files.Position(d.End())
				parsed[b.file] = append(parsed[b.file], ending{end.Line, end.Column, receiver(d) + d.Name.Name})
			}
		}
	}
	all := parsed[b.file]
	at, _ := slices.BinarySearchFunc(all, b, func(e ending, b block) int {
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

// TestStep makes steps, for TestStepIsShort.
func TestStep(t *testing.T) {
	if *howOften == 0 {
		t.Skip("is run by TestStepIsShort")
	}
	r, _, deliver := resourceOf(t, *stepsOf != "local")
	var p handle.Pair
	must(t, p.Request(r, resource.Write))
	deliver()
	must(t, p.Acquire(context.Background()))
	for range *howOften {
		if *stepsOf == "remote, writes" {
			_, err := handle.Write[float64](&p.Handle)
			must(t, err)
		}
		must(t, p.Next())
		deliver()
		must(t, p.Acquire(context.Background()))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wire carries messages between two sites when it is told to.
type wire struct {
	sites  [2]*resource.Site
	queued []func() error
}

type wireEnd struct {
	w    *wire
	from resource.Node
}

func (e wireEnd) Send(to resource.Node, header, bulk []byte, _ bool) error {
	header, bulk = slices.Clone(header), slices.Clone(bulk)
	e.w.queued = append(e.w.queued, func() error {
		_, err := e.w.sites[to].Deliver(e.from, header, resource.Bulk{Bytes: bulk})
		return err
	})
	return nil
}

func (e wireEnd) Post(to resource.Node, header, bulk []byte, lasting bool) error {
	return e.Send(to, header, bulk, lasting)
}

// resourceOf is a resource with its home here, or elsewhere, and the resource at the home.
func resourceOf(t *testing.T, elsewhere bool) (r, there *resource.Resource, deliver func()) {
	r, err := resource.New("r", 64)
	must(t, err)
	if !elsewhere {
		return r, r, func() {}
	}
	w := new(wire)
	for i := range w.sites {
		w.sites[i], err = resource.NewSite(resource.SiteOptions{Node: resource.Node(i), Nodes: 2, Transport: wireEnd{w, resource.Node(i)}})
		must(t, err)
	}
	there, err = resource.New("r", 64)
	must(t, err)
	must(t, w.sites[1].Home(there, resource.HomeAt{}))
	must(t, w.sites[0].Mirror(r, 1))
	return r, there, func() {
		for len(w.queued) > 0 {
			next := w.queued[0]
			w.queued = w.queued[1:]
			must(t, next())
		}
	}
}
