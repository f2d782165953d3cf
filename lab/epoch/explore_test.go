package epoch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// play is the program of one run.
type play struct {
	rank func(ctx context.Context, e *epoch.Sync) error
	// state is the memory that the ranks share outside the fabric. It may be nil.
	state func() uint64
}

// exhaust plays every interleaving and every delay of the plays that begin makes.
// None may fail or hang.
func exhaust(t *testing.T, name string, ranks int, options epoch.Options, begin func() play) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		report := sim.System{
			Topology: topology.Flat(ranks),
			Words:    32,
			Setup: func(f *sim.Fabric) (sim.Program, error) {
				epochs, err := epoch.New(f, options)
				p := begin()
				return sim.Program{
					Rank:  func(ctx context.Context, w rma.Window) error { return p.rank(ctx, epochs.At(w)) },
					State: p.state,
				}, err
			},
		}.Exhaust(sim.Limit{States: 1 << 20})
		if report.Failure != nil {
			t.Fatal(report.Failure)
		}
		if !report.Complete {
			t.Errorf("no end after %d states", report.States)
		}
	})
}

// section is an access epoch under a lock.
type section struct {
	mode   epoch.Mode
	target rma.Rank
	all    bool // LockAll instead
}

var (
	readAt0  = section{mode: epoch.Shared}
	writeAt0 = section{mode: epoch.Exclusive}
	writeAt1 = section{mode: epoch.Exclusive, target: 1}
	readAll  = section{all: true}
)

func (s section) String() string {
	if s.all {
		return "all"
	}
	return fmt.Sprintf("%v@%d", s.mode, s.target)
}

func (s section) lock(ctx context.Context, e *epoch.Sync) error {
	if s.all {
		return e.LockAll(ctx)
	}
	return e.Lock(ctx, s.target, s.mode)
}

func (s section) unlock(e *epoch.Sync) error {
	if s.all {
		return e.UnlockAll()
	}
	return e.Unlock(s.target)
}

// excludes reports whether the modes promise that two sections exclude each other.
func (s section) excludes(other section) bool {
	return (s.mode == epoch.Exclusive || other.mode == epoch.Exclusive) &&
		(s.all || other.all || s.target == other.target)
}

// TestLocksExhaustively plays plans. Each rank goes through one line of the plan,
// and inside each section it checks which other ranks are inside.
func TestLocksExhaustively(t *testing.T) {
	for _, plan := range [][][]section{
		{{writeAt0, writeAt0}, {writeAt0, writeAt0}},
		{{readAt0, writeAt0}, {writeAt0, readAt0}},
		{{readAll, writeAt0}, {writeAt0, readAll}},
		{{readAll, readAt0}, {writeAt1, writeAt0}},
		{{writeAt0}, {writeAt0}, {writeAt0}},
		{{readAt0}, {writeAt0}, {readAll}},
		{{writeAt0}, {readAll}, {writeAt1}},
		{{readAll}, {writeAt0}, {readAll}},
	} {
		exhaust(t, fmt.Sprint(plan), len(plan), epoch.Options{}, func() play {
			inside := make([]*section, len(plan))
			return play{
				rank: func(ctx context.Context, e *epoch.Sync) error {
					me := e.Window().Rank()
					for _, s := range plan[me] {
						if err := s.lock(ctx, e); err != nil {
							return err
						}
						for p, other := range inside {
							if other != nil && s.excludes(*other) {
								return fmt.Errorf("%v of rank %d and %v of rank %d at the same time", s, me, *other, p)
							}
						}
						inside[me] = &s
						e.Window().Get(me, 0) // a step inside, so that others may enter before it
						inside[me] = nil
						if err := s.unlock(e); err != nil {
							return err
						}
					}
					return nil
				},
				state: func() (who uint64) {
					for p, s := range inside {
						if s != nil {
							who |= 1 << p
						}
					}
					return who
				},
			}
		})
	}
}

// TestFencesExhaustively counts the ranks that have reached each fence. Each rank
// checks the count after the fence.
func TestFencesExhaustively(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		exhaust(t, fmt.Sprint(ranks), ranks, epoch.Options{}, func() play {
			came := make([]uint64, 2)
			return play{
				rank: func(ctx context.Context, e *epoch.Sync) error {
					for i := range came {
						came[i]++
						if err := e.Fence(ctx); err != nil {
							return err
						}
						if came[i] != uint64(ranks) {
							return fmt.Errorf("%d of %d ranks had come to fence %d when one passed", came[i], ranks, i)
						}
					}
					return nil
				},
				state: func() uint64 { return came[0] | came[1]<<8 },
			}
		})
	}
}

func TestPSCWExhaustively(t *testing.T) {
	exhaust(t, "two ranks two epochs", 2, epoch.Options{}, func() play {
		return play{rank: func(ctx context.Context, e *epoch.Sync) (err error) {
			other := []rma.Rank{1 - e.Window().Rank()}
			for range 2 {
				err = errors.Join(err, e.Post(ctx, other), e.Start(ctx, other), e.Complete(), e.Wait(ctx))
			}
			return err
		}}
	})
	// Rank 0 starts with rank 2 first, whatever the order of the posts. With room
	// for one post, the second post finds the mailbox full.
	for _, room := range []int{1, 2} {
		exhaust(t, fmt.Sprintf("three ranks room for %d", room), 3, epoch.Options{Neighbours: room}, func() play {
			return play{rank: func(ctx context.Context, e *epoch.Sync) error {
				if e.Window().Rank() != 0 {
					return errors.Join(e.Post(ctx, []rma.Rank{0}), e.Wait(ctx))
				}
				return errors.Join(
					e.Start(ctx, []rma.Rank{2}), e.Complete(),
					e.Start(ctx, []rma.Rank{1}), e.Complete())
			}}
		})
	}
}
