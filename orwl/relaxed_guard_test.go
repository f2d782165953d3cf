package orwl

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/resource"
)

// TestGuards takes snapshots of a resource while two pairs write it, through each
// lock that can be the guard. The two words of the resource are the same between two
// writes.
func TestGuards(t *testing.T) {
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) { snapshots(t, spec.Name) })
	}
}

func snapshots(t *testing.T, guard string) {
	const rounds = 500
	r, err := resource.NewWith("twice", 16, resource.Options{Guard: NewGuard(guard)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	looked := make(chan error)
	go func() {
		var last uint64
		for {
			b, version, err := (*queue.Resource)(r).Snapshot(ctx, nil)
			if err != nil {
				looked <- err
				return
			}
			x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
			if x != y || x != version || version < last {
				t.Errorf("version %d after %d shows %d and %d", version, last, x, y)
			}
			if last = version; last == 2*rounds {
				looked <- nil
				return
			}
		}
	}()
	var pairs sync.WaitGroup
	for range 2 {
		pairs.Go(func() {
			err := byPair(ctx, r, rounds, func(b []byte) error {
				for _, word := range [][]byte{b[:8], b[8:]} {
					binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)+1)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	pairs.Wait()
	if err := <-looked; err != nil {
		t.Error(err)
	}
	cancel()
}

// byPair writes a resource so many times by a pair.
func byPair(ctx context.Context, r *resource.Resource, rounds int, write func(b []byte) error) error {
	var p handle.Pair
	if err := p.Request(r, queue.Write); err != nil {
		return err
	}
	defer p.Cancel()
	for round := range rounds {
		if err := p.Acquire(ctx); err != nil {
			return err
		}
		b, err := handle.Write[byte](&p.Handle)
		if err == nil {
			err = write(b)
		}
		if round < rounds-1 {
			err = errors.Join(err, p.Next())
		} else {
			err = errors.Join(err, p.Release())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A guard has a rank more than the tree has, for the queue of the resource.
func TestGuardTree(t *testing.T) {
	g, err := newGuard("RMA-RW", lockerOptions{tree: topology.Flat(3)})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(g.Relaxed.(*lockers.RWLocker).Counts()); got != 3 {
		t.Errorf("%d ranks for relaxed access, want 3", got)
	}
	ctx := context.Background()
	if err := g.Ordered.Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	if g.Relaxed.TryRLock() {
		t.Error("relaxed access beside an ordered writer")
	}
	g.Ordered.Release()
	if !g.Relaxed.TryLock() {
		t.Error("no relaxed access to a free guard")
	}
	g.Relaxed.Unlock()
	if _, err := NewGuard("MCS")(); err == nil {
		t.Error("a lock without readers becomes a guard")
	}
}
