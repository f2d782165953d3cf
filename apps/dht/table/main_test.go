package table

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/resource"
)

// TestMain sees that the package leaves no goroutine behind.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(actors[role]())
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // its goroutine never ends
	signal.Stop(signals)
	goleak.VerifyTestMain(m)
}

// roleVariable says which of the actors a test binary is, if a test has started it.
const roleVariable = "DHT_TABLE_TEST_ROLE"

var actors = map[string]func() int{}

var (
	background = context.Background()
	silent     = slog.New(slog.NewTextHandler(io.Discard, nil))
)

// crew are the nodes of a run, all in this process. A busy machine loses none.
func crew(t testing.TB, count int) []*orwl.Nodes {
	t.Helper()
	nodes := make([]*orwl.Nodes, count)
	errs := make([]error, count)
	address := make(chan string, 1)
	join := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		nodes[i], errs[i] = orwl.Join(background, orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: silent})
	}
	var all sync.WaitGroup
	all.Go(func() { join(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { join(i, launch.Place{Root: root}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() {
				if err := n.Close(background); err != nil {
					t.Errorf("closing node %d: %v", n.Number(), err)
				}
			})
		}
		all.Wait()
	})
	return nodes
}

// newStrings makes the same table on all nodes; with none, one in this process.
func newStrings(t testing.TB, o Options, nodes ...*orwl.Nodes) []*Strings {
	t.Helper()
	tables := make([]*Strings, max(1, len(nodes)))
	errs := make([]error, len(tables))
	var all sync.WaitGroup
	for i := range tables {
		all.Go(func() {
			o := o
			if len(nodes) > 0 {
				o.Nodes = nodes[i]
			}
			tables[i], errs[i] = NewStrings(background, o)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return tables
}

// sound complains about volumes in which something is wrong.
func (t *Strings) sound(tb interface {
	Helper()
	Fatalf(string, ...any)
}) {
	tb.Helper()
	for i, r := range t.volumes {
		if r == nil {
			continue
		}
		if err := check(contents(r), t.o.Hash); err != nil {
			tb.Fatalf("volume %d: %v", i, err)
		}
	}
}

// do does one op.
func (t *Strings) do(o Op) Result {
	r := make([]Result, 1)
	t.Do(background, []Op{o}, r)
	return r[0]
}

func (t *Strings) set(key, value string) error {
	return t.do(Op{Kind: Set, Key: []byte(key), Value: []byte(value)}).Err
}

func (t *Strings) get(key string) (string, bool, error) {
	r := t.do(Op{Kind: Get, Key: []byte(key)})
	return string(r.Value), r.Found, r.Err
}

// contents is a copy of a volume's bytes between two accesses.
func contents(r *resource.Resource) []byte {
	in, err := r.Relaxed(background, resource.Read)
	if err != nil {
		panic(err)
	}
	defer in.Leave()
	return slices.Clone(in.Bytes())
}
