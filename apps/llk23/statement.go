package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/trace"
)

// statement is what a node has to say of its part in a run. Times are by the node's
// clock, which began with the run.
type statement struct {
	Took     time.Duration
	Shipped  int64                   // bytes of contents that have come from other nodes
	Accounts map[int]stencil.Account // of the node's blocks, by number
}

// statement is this node's, once its blocks are swept.
func (f *field) statement() statement {
	s := statement{Shipped: int64(f.rt.Counts().BytesIn), Accounts: make(map[int]stencil.Account)}
	for n := range f.views {
		if f.here(n) {
			s.Accounts[n] = f.cells.Account(n)
			f.views[n] = block{} // with the coefficients
			s.Took = max(s.Took, s.Accounts[n].Ended)
		}
	}
	return s
}

// exchange brings what each node has to say to all of them, as soon as all have swept their blocks:
// what comes afterwards is no part of what is measured.
func (f *field) exchange(ctx context.Context) (all []statement, clocks []trace.Clock, err error) {
	said, err := f.rt.Gather(ctx, "swept", pack.Encode(f.statement()))
	if err != nil {
		return nil, nil, err
	}
	all = make([]statement, len(said))
	for node := range said {
		if err := pack.Decode(said[node], &all[node]); err != nil {
			return nil, nil, fmt.Errorf("what node %d says of its part: %w", node, err)
		}
	}
	clocks, err = trace.MeetClocks(ctx, f.clock, f.rt)
	return all, clocks, err
}

// settle puts together what all nodes have said: times are by one clock, from when the first node
// has begun until the last has ended.
func (f *field) settle(all []statement, clocks []trace.Clock) {
	first := slices.MinFunc(clocks, func(a, b trace.Clock) int { return cmp.Compare(a.Offset, b.Offset) }).Offset
	for node, s := range all {
		f.took = max(f.took, clocks[node].Offset-first+s.Took)
		f.shipped += s.Shipped
	}
	f.accounts = make([]stencil.Account, len(f.views))
	for _, s := range all {
		for n, a := range s.Accounts {
			a.Spent[stencil.Outside] += f.took - a.Ended
			f.accounts[n] = a
		}
	}
}
