//go:build unix

package dashboards

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl"
)

// well is a run to which nothing happens: two tasks that take turns.
func well(t *testing.T) *scene {
	n := show(t, nil)
	rt, err := n.program(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 8)
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		pace := time.NewTicker(time.Millisecond)
		t.Cleanup(pace.Stop)
		task.Each(-1, func(int) error {
			<-pace.C
			return nil
		})
	}
	goes(t, func(ctx context.Context) { _ = rt.Run(ctx) })
	return &scene{job: promserver.Job{Name: "orwl-well", Targets: []string{n.address}}}
}

// stalls is a run of ten tasks. One never releases what the others want to read, and counts as computing. So
// nine of ten processors have nothing to do.
func stalls(t *testing.T) *scene {
	processors := runtime.GOMAXPROCS(10)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	n := show(t, nil)
	rt, err := n.program(orwl.Options{Stall: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 8)
	for i := range 10 {
		task := rt.Task(fmt.Sprint("task ", i))
		if i == 0 {
			orwl.Writes[byte](task, r)
		} else {
			orwl.Reads[byte](task, r)
		}
		task.Each(-1, func(int) error {
			<-task.Context().Done()
			return nil
		})
	}
	return &scene{
		job:    promserver.Job{Name: "orwl-stalls", Targets: []string{n.address}},
		fault:  func() { goes(t, func(ctx context.Context) { _ = rt.Run(ctx) }) },
		alerts: []string{"OrwlStalled", "OrwlWaitsTooMuch"},
	}
}

// unfair is a lock that two ranks take equally often, and then one of them much oftener.
func unfair(t *testing.T) *scene {
	n := show(t, nil)
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	spec, _ := locks.ByName("TAS")
	lock, err := spec.New(f, locks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ranks []locks.Mutex
	for p := range rma.Rank(2) {
		w, err := f.Window(p)
		if err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, lock.At(w))
	}
	take := func(rank, times int) {
		for range times {
			if err := ranks[rank].Acquire(t.Context()); err != nil {
				t.Error(err)
				return
			}
			ranks[rank].Release()
		}
	}
	take(0, 5000)
	take(1, 5000)
	if err := n.Lock("table", spec.Name, lock.Counts); err != nil {
		t.Fatal(err)
	}
	return &scene{
		job:    promserver.Job{Name: "orwl-unfair", Targets: []string{n.address}},
		fault:  func() { take(0, 100000) },
		alerts: []string{"OrwlUnfairLock"},
	}
}

// TestPanelsOfLocks has a real Prometheus scrape a program with a lock and tasks, and asks it what the panels of locks ask: each
// returns something. The tests of llk23 and of the hash table do so with the other panels.
func TestPanelsOfLocks(t *testing.T) {
	rings.Needs(t, rings.Change)
	server := promserver.Start(t, promserver.Options{})
	n := show(t, nil)
	rt, err := n.program(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := orwl.NewRWLocker("RMA-RW")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Locker("table", table); err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("r", 8)
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		pace := time.NewTicker(time.Millisecond)
		t.Cleanup(pace.Stop)
		task.Each(-1, func(int) error {
			table.Lock()
			<-pace.C
			table.Unlock()
			return nil
		})
	}
	goes(t, func(ctx context.Context) { _ = rt.Run(ctx) })
	server.Watch(promserver.Job{Name: "orwl-locks", Targets: []string{n.address}})
	for _, p := range pages(t) {
		for _, q := range p.Queries("orwl-locks", "20s") {
			if p.UID == "orwl-locks" {
				t.Log(q.Panel)
				server.Returns(q.Expr)
			}
		}
	}
}
