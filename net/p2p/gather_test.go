package p2p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestGather(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 4} {
		nodes := run(t, count, nil)
		for round := range 5 {
			got := make([][][]byte, count)
			var all sync.WaitGroup
			for i, n := range nodes {
				all.Go(func() {
					var err error
					got[i], err = n.Gather(soon(t), "start", fmt.Appendf(nil, "%d of round %d", i, round))
					if err != nil {
						t.Errorf("%d nodes, node %d, round %d: %v", count, i, round, err)
					}
				})
			}
			all.Wait()
			for i := range nodes {
				for j, blob := range got[i] {
					if want := fmt.Sprintf("%d of round %d", j, round); string(blob) != want {
						t.Errorf("%d nodes: node %d got %q of node %d, want %q", count, i, blob, j, want)
					}
				}
			}
		}
	}
}

func TestGatherOfNothingAndOfMuch(t *testing.T) {
	nodes := run(t, 3, nil)
	sizes := []int{0, 1 << 20, 100}
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			blobs, err := n.Gather(soon(t), "sizes", make([]byte, sizes[i]))
			if err != nil {
				t.Error(err)
				return
			}
			for j, blob := range blobs {
				if blob == nil || len(blob) != sizes[j] {
					t.Errorf("node %d got %d bytes of node %d (nil %t), want %d", i, len(blob), j, blob == nil, sizes[j])
				}
			}
		})
	}
	all.Wait()
}

// A gathering waits for everybody; a node that is gone gives nil.
func TestGatherWithoutTheLost(t *testing.T) {
	nodes := run(t, 3, nil)
	result := make(chan [][]byte, 2)
	for i, n := range nodes[:2] {
		go func() {
			blobs, err := n.Gather(soon(t), "rest", []byte{byte(i)})
			if err != nil {
				t.Errorf("node %d: %v", i, err)
			}
			result <- blobs
		}()
	}
	closeAll(t, nodes[2])
	for range 2 {
		blobs := await(t, result, "what was gathered")
		if want := [][]byte{{0}, {1}, nil}; !slices.EqualFunc(blobs, want, slices.Equal) || blobs[2] != nil {
			t.Errorf("gathered %v, want %v", blobs, want)
		}
	}
}

func TestGatherIsGivenUp(t *testing.T) {
	nodes := run(t, 2, nil)
	ctx, cancel := context.WithCancel(soon(t))
	cancel()
	if _, err := nodes[1].Gather(ctx, "late", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Gather with a context that is done: %v", err)
	}
	// The next under the same name is another.
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := nodes[0].Gather(soon(t), "late", []byte("a")); err != nil {
			t.Error(err)
		}
		if _, err := nodes[0].Gather(soon(t), "late", []byte("b")); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		blobs, err := nodes[1].Gather(soon(t), "late", nil)
		if err != nil || string(blobs[0]) != "b" {
			t.Errorf("the second round: %q, %v, want b", blobs, err)
		}
	})
	all.Wait()
}

// A gathering goes on without node 0 when it leaves.
func TestGatherWithoutNode0(t *testing.T) {
	nodes := run(t, 3, nil)
	result := make(chan [][]byte, 2)
	for i, n := range nodes[1:] {
		go func() {
			blobs, err := n.Gather(soon(t), "rest", []byte{byte(i)})
			if err != nil {
				t.Errorf("node %d: %v", n.Number(), err)
			}
			result <- blobs
		}()
	}
	closeAll(t, nodes[0])
	for range 2 {
		blobs := await(t, result, "what was gathered")
		if want := [][]byte{nil, {0}, {1}}; !slices.EqualFunc(blobs, want, slices.Equal) || blobs[0] != nil {
			t.Errorf("gathered %v, want %v", blobs, want)
		}
	}
}
