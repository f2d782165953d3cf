package peers

import (
	"context"
	"fmt"
	"sync"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// goroutines plays Go's locks on the window mem.
type goroutines struct{ f Family }

func openGo(_ context.Context, f Family) (Peer, error) { return goroutines{f}, nil }

// Play implements Peer.
func (g goroutines) Play(ctx context.Context, c lab.Case, sampled func(lab.Sample)) ([]lab.Sample, error) {
	contender, err := g.contender(c.Lock)
	if err != nil {
		return nil, err
	}
	c.Window, c.Options = arena.Mem, locks.Options{}
	return arena.Play(ctx, c, arena.Options{Contender: &contender, Sampled: sampled})
}

// Close implements Peer.
func (goroutines) Close() error { return nil }

func (g goroutines) contender(name string) (lab.Contender, error) {
	for _, l := range g.f.locks {
		if l.name == name {
			return lab.Contender{
				Name: name, Kind: l.kind,
				Words: func(*topology.Tree) int { return 0 },
				New: func(rma.Fabric, rma.Rank) (func(rma.Window) locks.Mutex, error) {
					return sides(name), nil
				},
			}, nil
		}
	}
	return lab.Contender{}, fmt.Errorf("peers: no lock %q in Go", name)
}

// sides makes a lock, and returns what makes a rank's side of it.
func sides(name string) func(rma.Window) locks.Mutex {
	switch name {
	case "sync.Mutex":
		l := new(sync.Mutex)
		return func(rma.Window) locks.Mutex { return exclusive{l} }
	case "sync.RWMutex":
		l := new(sync.RWMutex)
		return func(rma.Window) locks.Mutex { return readers{exclusive{l}, l} }
	}
	l := xsync.NewRBMutex()
	return func(rma.Window) locks.Mutex { return &biased{exclusive: exclusive{l}, l: l} }
}

// exclusive is a rank's side of a lock of Go. In mem an operation is complete when it returns,
// so Release has nothing to flush.
type exclusive struct{ l sync.Locker }

// Acquire implements locks.Mutex.
func (e exclusive) Acquire(context.Context) error { e.l.Lock(); return nil }

// Release implements locks.Mutex.
func (e exclusive) Release() { e.l.Unlock() }

// readers is a rank's side of a sync.RWMutex.
type readers struct {
	exclusive
	rw *sync.RWMutex
}

// AcquireRead implements locks.RWMutex.
func (r readers) AcquireRead(context.Context) error { r.rw.RLock(); return nil }

// ReleaseRead implements locks.RWMutex.
func (r readers) ReleaseRead() { r.rw.RUnlock() }

// biased is a rank's side of an RBMutex, which gives each reader a token.
type biased struct {
	exclusive
	l     *xsync.RBMutex
	token *xsync.RToken
}

// AcquireRead implements locks.RWMutex.
func (b *biased) AcquireRead(context.Context) error { b.token = b.l.RLock(); return nil }

// ReleaseRead implements locks.RWMutex.
func (b *biased) ReleaseRead() { b.l.RUnlock(b.token) }
