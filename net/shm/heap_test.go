//go:build linux

package shm

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// twin makes a fabric and opens it a second time, as another process would.
func twin(t *testing.T, options Options) (f, g *Fabric) {
	t.Helper()
	f, err := Create(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	g, err = Open(f.File(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return f, g
}

func TestAllocAlike(t *testing.T) {
	f, g := twin(t, Options{Topology: topology.Flat(2), Words: 64})
	for _, words := range []int{1, 10, 1, 3} {
		if a, b := alloc(t, f, words), alloc(t, g, words); a != b {
			t.Errorf("%d words are at %d in one process and at %d in the other", words, a, b)
		}
	}
	if d := alloc(t, f, 64-15); d != 15 {
		t.Errorf("the rest is at %d, want 15", d)
	}
}

func TestAllocAsymmetric(t *testing.T) {
	f, g := twin(t, Options{Topology: topology.Flat(2), Words: 64})
	alloc(t, f, 1)
	alloc(t, g, 1)
	alloc(t, f, 2)
	var failure *rma.AllocError
	if _, err := g.Alloc(3); !errors.Is(err, rma.ErrAsymmetric) || !errors.As(err, &failure) || failure.Words != 3 {
		t.Errorf("the second process allocates otherwise: %v, want ErrAsymmetric", err)
	}
	// It may still do as it should have.
	if d := alloc(t, g, 2); d != 1 {
		t.Errorf("2 words are at %d, want 1", d)
	}
}

func TestAllocNoSpace(t *testing.T) {
	f, _ := twin(t, Options{Topology: topology.Flat(2), Words: 64})
	for _, words := range []int{0, -1, 65, 1 << 40} {
		if _, err := f.Alloc(words); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("Alloc(%d): %v, want ErrNoSpace", words, err)
		}
	}
	alloc(t, f, 60)
	var failure *rma.AllocError
	if _, err := f.Alloc(5); !errors.As(err, &failure) || failure.Free != 4 {
		t.Errorf("Alloc beyond the end: %v, want an AllocError with 4 words free", err)
	}
}

// TestAllocRace lets many openers allocate differently at the same time: at each
// place one size wins, and all others get an error.
func TestAllocRace(t *testing.T) {
	f, _ := twin(t, Options{Topology: topology.Flat(2), Words: 1 << 10})
	const openers = 8
	wins := make(chan int, openers)
	for i := range openers {
		g, err := Open(f.File(), Options{Topology: f.Topology()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		go func() {
			if _, err := g.Alloc(i%2 + 1); err == nil {
				wins <- i%2 + 1
			} else if errors.Is(err, rma.ErrAsymmetric) {
				wins <- 0
			} else {
				wins <- -1
			}
		}()
	}
	count := map[int]int{}
	for range openers {
		count[<-wins]++
	}
	size := int(f.heap.log[0].Load())
	if count[0] != openers/2 || count[size] != openers/2 {
		t.Errorf("%d words won; outcomes %v, want half of the openers to agree and half to be told", size, count)
	}
}
