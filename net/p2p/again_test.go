package p2p

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// TestAgain has three nodes lose each other at the same moment, though all live. Nobody goes on. They come again, as other lives, and
// are in one epoch. On a busy machine they may lose each other once more.
func TestAgain(t *testing.T) {
	t.Parallel()
	nodes := run(t, 3, func(o *Options) { o.Lease = 500 * time.Millisecond })
	for _, n := range nodes {
		for _, p := range n.all() {
			if p != nil {
				p.lose(errSilent)
			}
		}
	}
	var mu sync.Mutex
	last, all := make([]uint64, 3), make(chan struct{})
	over := sync.OnceFunc(func() { close(all) })
	var coming sync.WaitGroup
	for i, n := range nodes {
		coming.Go(func() {
			for {
				n.OnEpoch(func(e Epoch) {
					mu.Lock()
					defer mu.Unlock()
					if len(e.Members()) == 3 && e.Number > 1 {
						if last[i] = e.Number; slices.Min(last) == slices.Max(last) {
							over()
						}
					}
				})
				select {
				case <-all:
					closeAll(t, n)
					return
				case <-n.isApart():
				}
				var err error
				if n, err = n.Again(soon(t)); err != nil {
					t.Errorf("node %d: %v", i, err)
					over()
					return
				}
			}
		})
	}
	coming.Wait()
	if _, err := nodes[0].Again(t.Context()); err == nil {
		t.Error("a life that is over comes again twice")
	}
}
