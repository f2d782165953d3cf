package main

import (
	"context"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// explored is a lock of a name, as the explorer takes it, and what it is.
func explored(name string) (l explore.Lock, about string, known bool) {
	if s, ok := specimen.ByName(name); ok {
		return planted(s), s.About, true
	}
	if lock, ok := lab.LockByName(name); ok {
		l = explore.Of(lock.Spec)
		if row, ours := locks.ByName(lock.Name); !ours || row.Name != lock.Name { // one as it was printed
			l.Set = nil
			l.New = func(f rma.Fabric, o locks.Options) (lockstest.At, error) {
				at, err := lock.New(f, o)
				return at, err
			}
		}
		return l, lock.About, true
	}
	for _, b := range lockstest.Broken() {
		if spec, of := locks.ByName(b.Of); of && strings.EqualFold(b.Name, name) {
			return explore.Lock{Subject: b.Break(lockstest.Of(spec)), Command: "go -C lab run ./cmd/orwl-lab sim -lock " + b.Name}, spec.Name + ", but " + b.Defect, true
		}
	}
	return l, "", false
}

// planted is a specimen as the explorer takes it. It has no options, it promises no order, and its
// waiters do not give up.
func planted(s specimen.Specimen) explore.Lock {
	l := explore.Lock{Bare: true, Command: "go -C lab run ./cmd/orwl-lab sim -lock " + s.Name}
	l.Spec = locks.Spec{
		Name: s.Name, About: s.About, Fairness: "none", Operations: true,
		Words: func(*topology.Tree, locks.Options) locks.Words { return locks.Words{} },
	}
	if hasReaders(s) {
		l.Spec.Kind = locks.ReaderWriter
	}
	l.New = func(f rma.Fabric, _ locks.Options) (lockstest.At, error) {
		at, err := s.New(f)
		sides := make([]locks.Mutex, f.Topology().Ranks())
		return func(w rma.Window) locks.Mutex {
			if sides[w.Rank()] == nil {
				sides[w.Rank()] = sideOf(s.Name, at(w), w)
			}
			return sides[w.Rank()]
		}, err
	}
	return l
}

// hasReaders reports whether a specimen tells readers from writers.
func hasReaders(s specimen.Specimen) (has bool) {
	system := sim.System{Topology: topology.Flat(1), Setup: func(f *sim.Fabric) (sim.Program, error) {
		at, err := s.New(f)
		return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
			_, has = at(w).(specimen.RWLock)
			return nil
		}}, err
	}}
	system.Seed(0)
	return has
}

// plantedSide is a rank's side of a specimen. It counts, and its errors are those of a lock of the table.
type plantedSide struct {
	specimen.Lock
	name   string
	w      rma.Window
	counts locks.Counts
}

// plantedRW is the same with readers.
type plantedRW struct {
	*plantedSide
	rw specimen.RWLock
}

func sideOf(name string, l specimen.Lock, w rma.Window) locks.Mutex {
	s := &plantedSide{Lock: l, name: name, w: w}
	if rw, ok := l.(specimen.RWLock); ok {
		return plantedRW{s, rw}
	}
	return s
}

func (s *plantedSide) Acquire(ctx context.Context) error { return s.came(s.Lock.Acquire(ctx)) }

func (s plantedRW) AcquireRead(ctx context.Context) error { return s.came(s.rw.AcquireRead(ctx)) }

func (s plantedRW) ReleaseRead() { s.rw.ReleaseRead() }

// came counts an acquisition that has succeeded.
func (s *plantedSide) came(err error) error {
	if cause := s.w.Err(); cause != nil {
		return &locks.BrokenError{Lock: s.name, Rank: s.w.Rank(), Cause: cause}
	}
	if err == nil {
		s.counts.Acquired++
	}
	return err
}

func (s *plantedSide) Counts() locks.Counts { return s.counts }

// isLock reports whether there is a lock of the name.
func isLock(name string) bool {
	_, _, known := explored(strings.TrimSpace(name))
	return known
}
