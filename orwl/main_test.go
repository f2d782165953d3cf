package orwl

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// TestMain checks that the package leaves no goroutine behind.
func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		os.Exit(play(part))
	}
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(actors[role]())
	}
	// The first call for signals starts a goroutine that never ends. Started here, it
	// is in no synctest bubble, which would wait for it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	waitTogether()
	goleak.VerifyTestMain(m)
}

// waitTogether lets more tests run at once than there are processors, unless -parallel says how
// many: the parallel tests of this package mostly wait.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "8") // a number
	}
}

// roleVariable names the actor for a test binary that a test has started.
const roleVariable = "ORWL_TEST_ROLE"

var actors = map[string]func() int{}

// mustNew is a runtime without tasks that logs nothing.
func mustNew(t testing.TB, o Options) *Runtime {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	rt, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// checkIdle complains about accesses that a run has left in a queue, and about queues
// that are not empty.
func checkIdle(t testing.TB, rt *Runtime) {
	t.Helper()
	for _, task := range rt.tasks {
		for i, a := range task.accesses {
			if p := a.Place(); p.Held() || p.Requested() {
				t.Errorf("task %s is left with access %d: %+v", task.name, i+1, p.Inspect(a.resource.Resource))
			}
		}
	}
	for _, r := range rt.resources {
		var h handle.Handle
		if err := h.Request((*resource.Resource)(r.Resource), queue.Write); err != nil {
			t.Error(err)
		}
		if !h.Test() {
			t.Errorf("something is left in the queue of %s", r.Name())
		}
		if err := h.Cancel(); err != nil {
			t.Error(err)
		}
	}
}

// content is a resource's bytes and their version.
func content(t testing.TB, r *resource.Resource) ([]uint64, uint64) {
	t.Helper()
	var h queue.Place
	if err := h.Request(core(r), queue.Read); err != nil {
		t.Fatal(err)
	}
	if err := h.Acquire(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	v, err := typed.Read[uint64](&h, new(typed.Memo))
	if err != nil {
		t.Fatal(err)
	}
	return append(make([]uint64, 0, len(v.Elements())), v.Elements()...), h.Version()
}
