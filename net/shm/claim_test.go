//go:build linux

package shm

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func TestClaim(t *testing.T) {
	f := create(t, 4)
	other := spawn(t, f, idle, 1, 1)
	other.ready()

	w := window(t, f, 0)
	if again := window(t, f, 0); again != w {
		t.Error("the second Window of a rank is another window")
	}
	for _, p := range []rma.Rank{-1, 4} {
		if _, err := f.Window(p); !rankRefused(err, "count from 0") {
			t.Errorf("Window(%d): %v, want a RankError", p, err)
		}
	}
	holder := fmt.Sprintf("process %d has it", other.cmd.Process.Pid)
	if _, err := f.Window(1); !rankRefused(err, holder) {
		t.Errorf("Window of a rank that another process has: %v, want a RankError with %q", err, holder)
	}
	other.tell()
	other.end()
	left := fmt.Sprintf("process %d had it and has left", other.cmd.Process.Pid)
	if _, err := f.Window(1); !rankRefused(err, left) {
		t.Errorf("Window of a rank whose process has left: %v, want a RankError with %q", err, left)
	}
	if w.Err() != nil {
		t.Errorf("a process that left is taken for lost: %v", w.Err())
	}
	if !f.lives(process{owner: f.claims[1].owner.Load(), first: 1}) {
		t.Error("between its leaving and its letting go of the lock it looks dead")
	}
	// The refusals have left nothing behind.
	window(t, f, 2)
}

// TestHalfAClaim meets a process that has taken the lock and not yet claimed.
func TestHalfAClaim(t *testing.T) {
	f, g := twin(t, Options{Topology: topology.Flat(2)})
	if free, err := g.locks.take(1); !free || err != nil {
		t.Fatal(free, err)
	}
	if _, err := f.Window(1); !rankRefused(err, "is claiming it") {
		t.Errorf("Window: %v, want a RankError", err)
	}
	if err := g.locks.drop(1); err != nil { // its death there would do the same
		t.Fatal(err)
	}
	window(t, f, 1)
}

// TestTwoFabricsOfOneProcess are strangers to each other.
func TestTwoFabricsOfOneProcess(t *testing.T) {
	f := create(t, 2)
	g, err := Open(f.File(), Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	window(t, f, 0)
	if _, err := g.Window(0); !rankRefused(err, "has it") {
		t.Errorf("Window: %v, want a RankError", err)
	}
	window(t, g, 1)
}

// racing is a process that claims what it can.
var racing = role("racing", func(a *actor) error {
	a.ready()
	if err := a.told(); err != nil {
		return err
	}
	n := 0
	for p := range a.Topology().Ranks() {
		if _, err := a.Window(rma.Rank(p)); err == nil {
			n++
		} else if !rankRefused(err, "") {
			return err
		}
	}
	fmt.Println(n)
	return a.told()
})

// TestClaimsRace lets four processes claim all ranks at once: each rank goes to
// exactly one.
func TestClaimsRace(t *testing.T) {
	const ranks = 64
	f := create(t, ranks)
	peers := make([]*peer, 4)
	for i := range peers {
		peers[i] = spawn(t, f, racing, 0)
		peers[i].ready()
	}
	for _, p := range peers {
		p.tell()
	}
	total := 0
	for _, p := range peers {
		var n int
		if _, err := fmt.Sscan(p.line(), &n); err != nil {
			t.Fatal(err)
		}
		total += n
	}
	if total != ranks {
		t.Errorf("%d claims succeeded, want %d", total, ranks)
	}
	for _, p := range peers {
		p.tell()
		p.end()
	}
}
