package rmatest

import (
	"context"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
)

// Tally is a window that counts its rank's operations, on the memory of other ranks
// and on its own. It does not count FlushAll and Pause, which name no rank.
type Tally struct {
	rma.Window
	Remote, Own Count
}

// Count is the number of operations of each kind.
type Count struct {
	Put, Get, Accumulate, FetchOp, CAS, PutBytes, GetBytes, Flush, Await int
}

// NewTally returns a window on w that counts the operations through it.
func NewTally(w rma.Window) *Tally { return &Tally{Window: w} }

// Reset sets all counts to zero.
func (t *Tally) Reset() { t.Remote, t.Own = Count{}, Count{} }

// at is the count for operations on target.
func (t *Tally) at(target rma.Rank) *Count {
	if target == t.Rank() {
		return &t.Own
	}
	return &t.Remote
}

// Put implements rma.Window.
func (t *Tally) Put(target rma.Rank, disp rma.Disp, value uint64) {
	t.at(target).Put++
	t.Window.Put(target, disp, value)
}

// Get implements rma.Window.
func (t *Tally) Get(target rma.Rank, disp rma.Disp) uint64 {
	t.at(target).Get++
	return t.Window.Get(target, disp)
}

// Accumulate implements rma.Window.
func (t *Tally) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	t.at(target).Accumulate++
	t.Window.Accumulate(target, disp, op, operand)
}

// FetchOp implements rma.Window.
func (t *Tally) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	t.at(target).FetchOp++
	return t.Window.FetchOp(target, disp, op, operand)
}

// CAS implements rma.Window.
func (t *Tally) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	t.at(target).CAS++
	return t.Window.CAS(target, disp, old, new)
}

// PutBytes implements rma.Window.
func (t *Tally) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	t.at(target).PutBytes++
	t.Window.PutBytes(target, disp, src)
}

// GetBytes implements rma.Window.
func (t *Tally) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	t.at(target).GetBytes++
	t.Window.GetBytes(target, disp, dst)
}

// Flush implements rma.Window.
func (t *Tally) Flush(target rma.Rank) {
	t.at(target).Flush++
	t.Window.Flush(target)
}

// Await implements rma.Window.
func (t *Tally) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	t.at(target).Await++
	return t.Window.Await(ctx, target, disp, until)
}

// String lists the kinds that occurred, for instance "2 Put, 2 Flush".
func (c Count) String() string {
	var kinds []string
	for _, kind := range []struct {
		n    int
		name string
	}{
		{c.Put, "Put"}, {c.Get, "Get"}, {c.Accumulate, "Accumulate"}, {c.FetchOp, "FetchOp"}, {c.CAS, "CAS"},
		{c.PutBytes, "PutBytes"}, {c.GetBytes, "GetBytes"}, {c.Flush, "Flush"}, {c.Await, "Await"},
	} {
		if kind.n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", kind.n, kind.name))
		}
	}
	if kinds == nil {
		return "nothing"
	}
	return strings.Join(kinds, ", ")
}
