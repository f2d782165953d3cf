package trace

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes"
)

var rewrite = flag.Bool("rewrite", false, "write the files in testdata anew")

// TestMain sees that the package leaves no goroutine behind.
func TestMain(m *testing.M) {
	// The first to ask for signals starts a goroutine that never ends. Started here it is
	// none of a synctest bubble's, which would wait for it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	goleak.VerifyTestMain(m)
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has\n%s\nnow it is\n%s", name, want, got)
	}
}

var quiet = slog.New(slog.DiscardHandler)

func mustNew(t testing.TB, o orwl.Options) *orwl.Runtime {
	t.Helper()
	o.Log, o.Stall = quiet, -1
	rt, err := orwl.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

func mustRecord(t testing.TB, o Options) *Recorder {
	t.Helper()
	rec, err := NewRecorder(o)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// pass lets time pass, which in a bubble it does at once when all wait.
func pass(d time.Duration) { <-time.After(d) }

// small is a program whose times are exact in a bubble: a writer that takes 3 ms, two
// readers that take 2 and 5 ms, three rounds. The second reader names what it does.
func small(t testing.TB, rec *Recorder, observers ...orwl.Observer) *orwl.Runtime {
	rt := mustNew(t, orwl.Options{Observers: append([]orwl.Observer{rec}, observers...)})
	r := rt.Resource("x", 8)
	w, one, two := rt.Task("writer"), rt.Task("reader 1"), rt.Task("reader 2")
	orwl.Writes[byte](w, r)
	orwl.Reads[byte](one, r)
	orwl.Reads[byte](two, r)
	w.Each(3, func(int) error {
		pass(3 * time.Millisecond)
		return nil
	})
	one.Each(3, func(int) error {
		pass(2 * time.Millisecond)
		return nil
	})
	two.Each(3, func(round int) error {
		name := "look"
		if round == 1 {
			name = "think"
		}
		rec.Recording(two).Region(name, rec.Now())
		pass(5 * time.Millisecond)
		rec.Recording(two).Region(Compute, rec.Now())
		return nil
	})
	return rt
}

// recorded runs the small program in a bubble. Its times suppose that both readers run at once.
func recorded(t *testing.T, o Options, observers ...orwl.Observer) (trace *Trace) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	synctest.Test(t, func(t *testing.T) {
		rec := mustRecord(t, o)
		if err := small(t, rec, observers...).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		trace = rec.Trace()
	})
	return trace
}

// ticking is a clock that goes on by 1 µs whenever it is read.
func ticking() func() time.Duration {
	var ticks atomic.Int64
	return func() time.Duration { return time.Duration(ticks.Add(1)) * time.Microsecond }
}

// onNodes runs a program on nodes that are all in this process, over libp2p. A busy
// machine loses none.
func onNodes(t testing.TB, count int, program func(n *orwl.Nodes) error) {
	t.Helper()
	address := make(chan string, 1)
	errs := make([]error, count)
	one := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		n, err := orwl.Join(context.Background(), orwl.JoinOptions{Place: &p, Lease: time.Minute, Log: quiet, Remote: true})
		if err == nil {
			err = errors.Join(program(n), n.Close(context.Background()))
		}
		errs[i] = err
	}
	var all sync.WaitGroup
	all.Go(func() { one(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { one(i, launch.Place{Root: root}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
