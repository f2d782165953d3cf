package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// run is a sorted run. One of its blocks is here, and perhaps the next one is on its way.
type run struct {
	number     int
	blocks     []*resource.Resource // the blocks that are not here yet
	here, next *handle.Handle
	holds      bool                // here holds a block
	asked      bool                // next requests one
	keys       handle.View[uint64] // the keys of the block that is here, without the merged ones
}

// announce requests the next block, if there is one.
func (r *run) announce() error {
	if len(r.blocks) == 0 {
		return nil
	}
	r.asked = true
	return r.next.Announce(r.blocks[0], resource.Read, time.Now)
}

// turn releases the block that is here, and waits for the next one. It requests that one, unless
// announce has. There is none if the run has ended.
func (r *run) turn(ctx context.Context) (ended bool, err error) {
	if r.holds {
		if err := r.here.Release(); err != nil {
			return false, err
		}
		r.holds = false
	}
	if len(r.blocks) == 0 {
		return true, nil
	}
	if !r.asked {
		if err := r.announce(); err != nil {
			return false, err
		}
	}
	if err := r.next.Acquire(ctx); err != nil {
		return false, err
	}
	r.here, r.next, r.blocks = r.next, r.here, r.blocks[1:]
	r.keys, err = handle.Read[uint64](r.here)
	r.holds, r.asked = true, false
	return false, err
}

// abandon takes back what is requested, and releases what is held.
func (r *run) abandon(why error) {
	if r.holds {
		_ = r.here.Abandon(why)
	}
	if r.asked {
		_ = r.next.Abandon(why)
	}
}

// merge appends to merged what all runs have. Each has a block at least. With ahead it announces each
// block before it merges up to it. took sums up the times of the blocks, the first ones of the runs excepted.
func merge(ctx context.Context, merged []uint64, all [][]*resource.Resource, ahead bool) (_ []uint64, took handle.Prefetch, err error) {
	var runs []*run // the runs that have not ended
	defer func() {
		for _, r := range runs { // merge has failed, and others must not wait for it
			r.abandon(err)
		}
	}()
	for i, blocks := range all {
		r := &run{number: i, blocks: blocks, here: new(handle.Handle), next: new(handle.Handle)}
		runs = append(runs, r)
		if ahead {
			if err := r.announce(); err != nil {
				return nil, took, err
			}
		}
	}
	for _, r := range runs {
		if _, err := r.turn(ctx); err != nil {
			return nil, took, err
		}
	}
	slices.SortFunc(runs, byFirst) // from now on they are a heap
	for len(runs) > 0 {
		first := slices.MinFunc(runs, byLast) // the run whose block ends first
		if ahead {
			if err := first.announce(); err != nil {
				return nil, took, err
			}
		}
		merged = exhaust(merged, runs)
		ended, err := first.turn(ctx)
		if err != nil {
			return nil, took, err
		}
		if ended {
			runs[0], runs = runs[len(runs)-1], runs[:len(runs)-1]
		} else {
			p := first.here.Prefetch()
			took.Waited += p.Waited
			took.Saved += p.Saved
		}
		sink(runs)
	}
	return merged, took, nil
}

// exhaust merges runs until one of their blocks is empty: the one whose run is the first by byLast.
func exhaust(merged []uint64, runs []*run) []uint64 {
	for {
		r := runs[0]
		merged = append(merged, r.keys.At(0))
		r.keys = r.keys.Sub(1, r.keys.Len())
		if r.keys.Len() == 0 {
			return merged
		}
		sink(runs)
	}
}

// sink moves the first run of a heap to its place, if there is one.
func sink(runs []*run) {
	for at := 0; ; {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(runs); child++ {
			if byFirst(runs[child], runs[least]) < 0 {
				least = child
			}
		}
		if least == at {
			return
		}
		runs[at], runs[least] = runs[least], runs[at]
		at = least
	}
}

// byFirst orders runs by the next key, and byLast by the last key of their blocks. Equal keys are in the order of
// the runs, in both: so the first by byLast is the first to end its block.
func byFirst(a, b *run) int {
	return cmp.Or(cmp.Compare(a.keys.At(0), b.keys.At(0)), cmp.Compare(a.number, b.number))
}

func byLast(a, b *run) int {
	last := func(r *run) uint64 { return r.keys.At(r.keys.Len() - 1) }
	return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.number, b.number))
}
