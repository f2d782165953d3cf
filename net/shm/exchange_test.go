//go:build linux

package shm

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

func TestPingPong(t *testing.T) {
	f := create(t, 2)
	other := spawn(t, f, pong, 1, "window", -1)
	p := windowPlayer{window(t, f, 0), alloc(t, f, court)}
	other.ready()
	if last := rally(p, 0, 1000); last != 1000 {
		t.Errorf("after 1000 round trips the ball has been struck %d times", last)
	}
	p.strike(stop)
	other.end()
}

// counting is a process that increments two counters of rank 0 in two ways, n
// times each, and waits until all processes have.
var counting = role("counting", func(a *actor) error {
	sum, swapped := a.words(1), a.words(1)
	w, n := a.own(), a.int(0)
	for range n {
		w.FetchOp(0, sum, rma.Sum, 1)
		for old := w.Get(0, swapped); ; {
			seen := w.CAS(0, swapped, old, old+1)
			if seen == old {
				break
			}
			old = seen
		}
	}
	total := uint64(n * a.Topology().Ranks())
	for _, counter := range []rma.Disp{sum, swapped} {
		if v, err := w.Await(background, 0, counter, rma.AtLeast(total)); err != nil || v != total {
			return fmt.Errorf("counter %v: %d, %v; want %d", counter, v, err, total)
		}
	}
	return nil
})

func TestManyProcessesCount(t *testing.T) {
	const ranks, each = 8, 2000
	f := create(t, ranks)
	sum, swapped := alloc(t, f, 1), alloc(t, f, 1)
	peers := make([]*peer, ranks)
	for p := range peers {
		peers[p] = spawn(t, f, counting, rma.Rank(p), each)
	}
	for _, p := range peers {
		p.end()
	}
	for _, counter := range []rma.Disp{sum, swapped} {
		if got := f.world.Segments[0].Heap[counter]; got != ranks*each {
			t.Errorf("counter %v: %d, want %d", counter, got, ranks*each)
		}
	}
}

// TestRanksShareProcesses mixes ranks that are woken by a porter, in three
// processes of four, with one that sleeps for itself.
func TestRanksShareProcesses(t *testing.T) {
	const ranks, each, laps = 13, 4, 200
	f := create(t, ranks)
	token, words := alloc(t, f, 1), alloc(t, f, ranks*spacing)
	var peers []*peer
	for first := 1; first < ranks; first += each {
		peers = append(peers, spawn(t, f, circulating, rma.Rank(first), each, laps))
	}
	for _, p := range peers {
		p.ready()
		p.tell()
	}
	window(t, f, 0).Put(0, token, 1)
	futexes(f, words, 1)[0].Store(1)
	if _, err := circulate(f, token, words, 0, 1, laps); err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		p.end()
	}
}
