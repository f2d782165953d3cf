//go:build unix

package watch

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// These tests plant a case, and look whether the words of the page say which task blocks which, and where the time goes. Nobody
// chooses anything in the page.

// says waits until a part of the page has some words, whatever blanks are between them.
func says(t *testing.T, b *browser.Browser, id, words string) {
	t.Helper()
	b.Until(fmt.Sprintf(`$(%q).innerText.replace(/\s+/g, ' ').includes(%q)`, id, words))
}

// running opens the page of a program that runs. The program ends with the test, after release.
func running(t *testing.T, declare func(rt *orwl.Runtime) (release func())) *browser.Browser {
	t.Helper()
	rt, err := orwl.New(orwl.Options{Stall: -1})
	if err != nil {
		t.Fatal(err)
	}
	release := declare(rt)
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(context.Background()) }()
	t.Cleanup(func() {
		release()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return show(t, New(func() *orwl.Runtime { return rt }), 1280, 800)
}

// A body waits for something outside of the program. Another task waits for its turn, and a third one for that.
func TestWordsOfAHeldTurn(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := running(t, func(rt *orwl.Runtime) func() {
		outside := make(chan struct{})
		raw, clean := orwl.Array[int64](rt, "raw", 1), orwl.Array[int64](rt, "clean", 1)
		load, filter, store := rt.Task("load"), rt.Task("filter"), rt.Task("store")
		orwl.Writes[int64](load, raw)
		orwl.Reads[int64](filter, raw)
		orwl.Writes[int64](filter, clean)
		orwl.Reads[int64](store, clean)
		load.Each(9, func(round int) error {
			if round == 3 {
				<-outside
			}
			return nil
		})
		filter.Each(9, func(int) error { return nil })
		store.Each(9, func(int) error { return nil })
		return func() { close(outside) }
	})
	says(t, b, "head", "Something stands still. This is the culprit:")
	says(t, b, "text", "task load works in round 3 for ")
	says(t, b, "text", "words_test.go:")
	says(t, b, "text", "2 tasks wait for it: store ──▶ filter ──▶ load")
	says(t, b, "why", "store waits for its turn to read clean, for ")
	says(t, b, "why", "filter waits for its turn to read raw, for ")
	says(t, b, "why", "load computes, in round 3, for ")
	says(t, b, "why", "Each one waits for the next. All of them wait for the last one.")
	says(t, b, "spent", "waits for a turn: another task has the turn 67 %")
	says(t, b, "blame", "had to wait, in the end, for: load, 100 % of that time")
	b.Shot("turn")
}

// There is one job more than there are workers, and none ends. One is queued: it has all that it needs, and waits for no task.
func TestWordsOfNoWorker(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := running(t, func(rt *orwl.Runtime) func() {
		outside := make(chan struct{})
		for i := range rt.Processors() + 1 {
			job := rt.Task(fmt.Sprint("job ", i))
			orwl.Writes[int64](job, orwl.Array[int64](rt, fmt.Sprint("field ", i), 1))
			job.Each(1, func(int) error { <-outside; return nil })
		}
		return func() { close(outside) }
	})
	says(t, b, "head", "Something stands still. This is the culprit:")
	says(t, b, "text", "; 1 task waits for it: job ")
	says(t, b, "why", " is ready, but all workers of its node are busy")
	says(t, b, "why", " computes, in round 0, for ")
	says(t, b, "why", " waits for no task. It needs a worker, and gets one that becomes free.")
	says(t, b, "spent", "queued: ready, but no worker is free")
	says(t, b, "wtext", "100 % of their time in bodies, 0 % looking for work, 0 % asleep")
	b.Shot("queued")
}

// The task before has released, and its bytes are on their way from another node.
func TestWordsOfSlowData(t *testing.T) {
	rings.Needs(t, rings.Change)
	long := inspect.Seconds{Duration: 2300 * time.Millisecond}
	b := opened(t, 1280, 800, func() inspect.Run {
		node := func(n int, s inspect.State) inspect.NodeReport {
			s.Node, s.Running, s.Still, s.Workers = n, true, long, &inspect.Workers{All: 2, Asleep: 1}
			return inspect.NodeReport{Node: n, Process: inspect.Process{ID: 71 + n, Host: "ann"}, Status: inspect.NodeHere, State: &s}
		}
		return inspect.Run{Now: time.Now(), Nodes: []inspect.NodeReport{
			node(0, inspect.State{Tasks: []inspect.TaskState{{Task: "make", State: inspect.TaskEnded, Round: 9, Rounds: 9}}}),
			node(1, inspect.State{
				Tasks: []inspect.TaskState{{Task: "use", Node: 1, State: inspect.TaskWaiting, Round: 8, Rounds: 9, For: long,
					Waits: &inspect.WaitState{Resource: "volume", Mode: "read", For: long, Behind: []string{}}}},
				WaitsFor: []inspect.WaitEdge{{From: "use", To: "make", Resource: "volume", Mode: "read", Node: 0, Round: 8}},
			}),
		}}
	})
	says(t, b, "text", "node 0 (process 71 on ann): the bytes of volume are on their way to node 1; 1 task waits for it: use (node 1) ──▶ the bytes of volume")
	says(t, b, "why", "use (node 1) waits for the bytes to read volume, for 2.3 s the bytes of volume: on their way")
	says(t, b, "spent", "waits for data: the bytes are on their way 50 %")
	says(t, b, "blame", "for: the bytes of volume, 100 % of that time")
	b.Shot("data")
}

// A node was lost, and the run goes on in another life. The page shows the lives, with what it had seen before.
func TestPageOfLives(t *testing.T) {
	rings.Needs(t, rings.Change)
	began := time.Now().Add(-40 * time.Second)
	looked := 0
	b := opened(t, 1280, 800, func() inspect.Run {
		looked++
		r, ended := ring(false), began.Add(25*time.Second)
		for i := range r.Nodes {
			r.Nodes[i].State.Still = inspect.Seconds{}
			for j := range r.Nodes[i].State.Tasks {
				r.Nodes[i].State.Tasks[j].For = inspect.Seconds{}
			}
		}
		r.Nodes[0].State.Life = &inspect.Life{
			PastLife: inspect.PastLife{Number: 2, From: 60, Seats: []int{0, 1, 3}, Began: ended.Add(700 * time.Millisecond)},
			Cuts:     3, Round: uint64(60 + looked/2*20), Age: inspect.Seconds{Duration: time.Duration(looked%2) * 250 * time.Millisecond},
			Past: []inspect.PastLife{{Number: 1, Seats: []int{0, 1, 2, 3}, Began: began, Ended: &ended, Why: "orwl: node 2: nothing was heard of it for 1.75s"}},
		}
		return r
	})
	says(t, b, "life", "from the cut behind round 60. The last whole cut is behind round ")
	says(t, b, "life", " old. If a node is lost now, the others go on from there.")
	says(t, b, "past", "Life 1, for 25.0 s on 4 nodes, ended: node 2: nothing was heard of it for 1.75s")
	b.Until(`looks.length > 6`)
	b.Shot("lives")
}

// Another life of the run comes to the port of the page. The minute goes on, with the tasks of both.
func TestPageOfTheNextLife(t *testing.T) {
	rings.Needs(t, rings.Change)
	serves := func(next func() inspect.Run) (*Page, *http.ServeMux) {
		p, mux := New(func() *orwl.Runtime { return nil }), http.NewServeMux()
		p.ask = func(context.Context) (inspect.Run, bool) { return next(), true }
		p.Register(mux)
		return p, mux
	}
	var now atomic.Pointer[http.ServeMux]
	first, mux := serves(func() inspect.Run { return ring(false) })
	now.Store(mux)
	s, err := port.Serve(t.Context(), port.Options{Address: "127.0.0.1:0", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) })})
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, 1280, 800)
	b.Show("http://" + s.Address() + "/")
	b.Until(`looks.length > 1`)
	second, mux := serves(func() inspect.Run {
		r := ring(false)
		r.Nodes = r.Nodes[:2]
		return r
	})
	t.Cleanup(func() { second.Close(); _ = s.Close() })
	now.Store(mux)
	first.Close()
	b.Until(`shown().nodes.length === 2 && !ended && looks.some(l => l.nodes.length === 3 && programOf(l).names.includes('south'))`)
	b.Until(`!programOf(shown()).names.includes('south')`)
	b.Eval(`pause(true); step(-1e9)`)
	b.Until(`programOf(shown()).names.includes('south') && $('text').textContent.includes('south')`)
}
