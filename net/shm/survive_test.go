//go:build linux

package shm

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// TestSurvival kills a process. The ranks of this one go on.
func TestSurvival(t *testing.T) {
	const lost = 2
	f := createWith(t, Options{Topology: topology.Flat(5), Survive: true})
	at := alloc(t, f, 2)
	victim := spawn(t, f, idle, lost, 1)
	victim.ready()
	var windows []rma.Survivor
	for _, p := range []rma.Rank{0, 1, 3, 4} {
		windows = append(windows, window(t, f, p).(rma.Survivor))
	}
	if err := rmatest.Survival(t.Context(), windows, at, lost, victim.kill, func() { f.Close() }); err != nil {
		t.Error(err)
	}
}

// TestSurvivesTwoRanks kills a process that has two ranks, and then asks for one more window: it knows
// of both.
func TestSurvivesTwoRanks(t *testing.T) {
	told := make(chan error, 2)
	f := createWith(t, Options{Topology: topology.Flat(4), Survive: true, Lost: func(err error) { told <- err }})
	alloc(t, f, 1)
	victim := spawn(t, f, idle, 1, 2)
	w := window(t, f, 0).(rma.Survivor)
	victim.ready()
	victim.kill()
	for w.Epoch().Number() < 2 {
		if _, err := w.AwaitIn(background, w.Epoch(), 0, 0, rma.Is(1)); !errors.Is(err, rma.ErrPeerLost) {
			t.Fatalf("a wait ended with %v, want %v", err, rma.ErrPeerLost)
		}
	}
	for _, p := range []rma.Rank{1, 2} {
		var loss *rma.PeerLostError
		if err := <-told; !errors.As(err, &loss) || loss.Rank != p {
			t.Errorf("told of %v, want the loss of rank %d", err, p)
		}
	}
	if e := window(t, f, 3).(rma.Survivor).Epoch(); e.Number() != 2 || !e.Lost(1) || !e.Lost(2) || e.Err() != nil {
		t.Errorf("a window asked for later has epoch %d, lost: %t, %t, with %v", e.Number(), e.Lost(1), e.Lost(2), e.Err())
	}
}
