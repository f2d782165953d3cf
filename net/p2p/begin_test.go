package p2p

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFreeNumbers has one node of three begin, and the others come, the second before the first. All
// gather then, and parcels arrive in each direction.
func TestFreeNumbers(t *testing.T) {
	t.Parallel()
	o := Options{Nodes: 3, Begin: 1, Key: testKey, Lease: unhurried, Remote: true}
	first, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, first) })
	absent, came := make(chan struct{}, 2), make(chan struct{}, 2)
	first.OnLoss(func(_ int, why error) {
		if errors.Is(why, ErrAbsent) {
			absent <- struct{}{}
		}
	})
	first.OnLate(func(int, uint64) { came <- struct{}{} })
	for range 2 {
		await(t, absent, "word of a free number")
	}
	blobs, err := first.Gather(soon(t), "alone", []byte{7})
	if want := [][]byte{{7}, nil, nil}; err != nil || !slices.EqualFunc(blobs, want, slices.Equal) {
		t.Errorf("alone: %v, %v, want %v", blobs, err, want)
	}
	nodes := []*Node{first, nil, nil}
	for _, number := range []int{2, 1} {
		o := o
		o.Number, o.Late, o.Root = number, true, first.Address()
		n, err := Join(soon(t), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeAll(t, n) })
		await(t, came, fmt.Sprint("node ", number))
		if number == 2 && !errors.Is(n.Lost(1), ErrAbsent) {
			t.Errorf("node 2 takes node 1 for %v, want ErrAbsent", n.Lost(1))
		}
		nodes[number] = n
	}
	gatherTwice(t, nodes)
	sendAll(t, nodes, 1)
	if lost := first.Counts().Lost.Load(); lost != 0 {
		t.Errorf("%d nodes were lost, want 0", lost)
	}
	closeAll(t, nodes...)
}

// A node that does not say that it is late is told so, in the words of the option.
func TestNumberThatDoesNotBegin(t *testing.T) {
	o := Options{Nodes: 2, Begin: 1, Key: testKey, Remote: true}
	first, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, first) })
	o.Number, o.Root = 1, first.Address()
	if _, err = Join(soon(t), o); err == nil || !strings.Contains(err.Error(), "Number is 1, and nodes 0 to 0 begin") {
		t.Errorf("late without Late: %v", err)
	}
	o.Begin, o.JoinTimeout = 2, time.Minute
	if _, err = Join(soon(t), o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "give all nodes the same Options.Begin") {
		t.Errorf("another Begin: %v", err)
	}
}
