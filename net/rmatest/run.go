package rmatest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Options describe the fabric that a case needs.
type Options struct {
	Topology *topology.Tree
	Words    int
	// Context ends the fabric, for backends that take one.
	Context context.Context
}

// Patience is the time limit of a case. A case takes milliseconds, or seconds if it
// makes many fabrics of many nodes on a busy machine. A case that takes longer than
// Patience waits for a lost wake-up.
const Patience = time.Minute

// Run executes every case on a fabric of its own and closes the fabric. newFabric
// makes fabrics with all ranks as goroutines of this process.
func Run(t *testing.T, newFabric func(t testing.TB, o Options) rma.Fabric) {
	RunRanks(t, 0, newFabric)
}

// RunRanks is Run with at least ranks ranks in every case. ranks is at most MaxRanks.
func RunRanks(t *testing.T, ranks int, newFabric func(t testing.TB, o Options) rma.Fabric) {
	if ranks > MaxRanks {
		t.Fatalf("rmatest: %d ranks, want at most %d", ranks, MaxRanks)
	}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			f := newFabric(t, Options{Topology: topology.Flat(max(c.Ranks, ranks)), Words: c.Words, Context: ctx})
			err := errors.Join(Execute(ctx, f, c), f.Close())
			switch {
			case errors.Is(err, ErrSkip):
				t.Skip(err)
			case err != nil:
				t.Fatal(err)
			}
		})
	}
}

// Execute executes a case on a fabric with all ranks in this process, one goroutine
// each. It joins their errors. A panic counts as an error.
func Execute(ctx context.Context, f rma.Fabric, c Case) error {
	body, err := c.Setup(f)
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	var ranks sync.WaitGroup
	errs := make([]error, f.Topology().Ranks())
	for p := range errs {
		ranks.Go(func() {
			errs[p] = Perform(ctx, f, body, rma.Rank(p))
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}

// Perform executes a body for one rank. A panic counts as an error.
func Perform(ctx context.Context, f rma.Fabric, body Body, p rma.Rank) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("rank %d: panic: %v\n%s", p, value, debug.Stack())
		}
	}()
	w, err := f.Window(p)
	if err != nil {
		return err
	}
	return body(ctx, w)
}

// Case is one test of the contract.
type Case struct {
	// Name is unique. The part before the slash names the part of the contract.
	Name string
	// Ranks is the smallest number of ranks. The case works with more, up to
	// MaxRanks.
	Ranks int
	// Words is the number of words to allocate that it needs at each rank.
	Words int
	// Setup makes the case's allocations, once in each process. It returns the
	// body for every rank. An error that matches ErrSkip says that the case does
	// not apply to this fabric.
	Setup func(f rma.Fabric) (Body, error)
}

// Body is the program of one rank. It returns the first mistake that it saw, or nil.
// Several ranks of one process execute it at the same time.
type Body func(ctx context.Context, w rma.Window) error

// MaxRanks is the largest number of ranks that Case.Words is enough for.
const MaxRanks = 64

// ErrSkip matches the error of a Setup if the fabric lacks an optional capability
// that the case needs.
var ErrSkip = errors.New("not for this fabric")

// Cases is the whole suite.
func Cases() []Case {
	return slices.Concat(
		wordCases, atomicCases, accumulateCases, awaitCases, handoverCases, orderCases,
		bulkCases, allocCases, regionCases, addressCases, exposeCases, sharedCases,
	)
}

// CaseByName returns the case with that name.
func CaseByName(name string) (Case, error) {
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("rmatest: no case has the name %q: see Cases", name)
}

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
