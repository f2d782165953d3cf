package main

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/trace"
)

// TestSettle puts the statements of two nodes together. The second began 5 later and ended 3
// later.
func TestSettle(t *testing.T) {
	f := newField(problem{rows: 2, cols: 1, iters: 1, values: noise}, size{2, 1}, fused)
	account := func(ended time.Duration, imports int64) stencil.Account {
		a := stencil.Account{Ended: ended, Imports: imports}
		a.Spent[stencil.Computing], a.Spent[stencil.Outside] = ended-1, 1
		return a
	}
	f.settle([]statement{
		{Took: 20, Shipped: 3, Accounts: map[int]stencil.Account{1: account(20, 1)}},
		{Took: 18, Shipped: 4, Accounts: map[int]stencil.Account{0: account(16, 2)}},
	}, []trace.Clock{{Node: 0}, {Node: 1, Offset: 5}})
	if f.took != 23 || f.shipped != 7 {
		t.Errorf("%v, %d bytes; want 23 and 7", f.took, f.shipped)
	}
	for n, want := range []struct {
		outside time.Duration
		imports int64
	}{{8, 2}, {4, 1}} {
		if a := f.accounts[n]; a.Spent[stencil.Outside] != want.outside || a.Imports != want.imports {
			t.Errorf("block %d: %v outside, %d imports; want %+v", n, a.Spent[stencil.Outside], a.Imports, want)
		}
	}
}
