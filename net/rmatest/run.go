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

// Scene is the Setup of a case that needs allocated words, and one word more for Meet. The words
// begin at the displacement at, which is 0 if there are none.
func Scene(words int, act func(p *Player, at rma.Disp)) func(f rma.Fabric) (Body, error) {
	return func(f rma.Fabric) (Body, error) {
		meeting, err := f.Alloc(1)
		if err != nil {
			return nil, err
		}
		at := rma.Disp(0)
		if words > 0 {
			if at, err = f.Alloc(words); err != nil {
				return nil, err
			}
			rma.Label(f, at, words, "at")
		}
		rma.Label(f, meeting, 1, "meeting")
		return cast(f, meeting, func(p *Player) { act(p, at) }), nil
	}
}

// cast is the body that makes a player and calls act.
func cast(f rma.Fabric, meeting rma.Disp, act func(p *Player)) Body {
	ranks := f.Topology().Ranks()
	return func(ctx context.Context, w rma.Window) error {
		p := &Player{Window: w, Context: ctx, Me: w.Rank(), Ranks: ranks, meeting: meeting}
		act(p)
		if err := w.Err(); err != nil {
			p.Fail("the window failed: %w", err)
		}
		return p.err
	}
}

// Player is a rank in a case, and its window. It remembers the first mistake.
type Player struct {
	rma.Window
	Context context.Context // the body's
	Me      rma.Rank
	Ranks   int      // number of all ranks
	meeting rma.Disp // at rank 0: the number of ranks that have come to all meetings
	met     int      // number of meetings of this rank
	err     error
}

// Fail remembers a mistake, if it is the first one.
func (p *Player) Fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("rank %d: %w", p.Me, fmt.Errorf(format, args...))
	}
}

// Check remembers err, if it is not nil.
func (p *Player) Check(err error) {
	if err != nil {
		p.Fail("%w", err)
	}
}

// Equal checks that a value is want.
func (p *Player) Equal(got, want uint64, what string, args ...any) {
	if got != want {
		p.Fail("%s is %#x, want %#x", fmt.Sprintf(what, args...), got, want)
	}
}

// Is checks that err matches want.
func (p *Player) Is(err, want error, what string, args ...any) {
	if !errors.Is(err, want) {
		p.Fail("%s: the error is %v, want one that matches %q", fmt.Sprintf(what, args...), err, want)
	}
}

// After is the rank n ranks further on, modulo the number of ranks.
func (p *Player) After(n int) rma.Rank {
	return rma.Rank(((int(p.Me)+n)%p.Ranks + p.Ranks) % p.Ranks)
}

// All yields all ranks, beginning with this one.
func (p *Player) All(yield func(q rma.Rank) bool) {
	for n := range p.Ranks {
		if !yield(p.After(n)) {
			return
		}
	}
}

// Share is each rank's part of about total steps, at least 2.
func (p *Player) Share(total int) int { return max(2, total/p.Ranks) }

// Store is a Put with a Flush, so that every rank sees it.
func (p *Player) Store(target rma.Rank, disp rma.Disp, value uint64) {
	p.Put(target, disp, value)
	p.Flush(target)
}

// await waits and checks that the value it gets satisfies the condition.
func (p *Player) await(target rma.Rank, disp rma.Disp, until rma.Until) uint64 {
	value, err := p.Await(p.Context, target, disp, until)
	switch {
	case err != nil:
		p.Fail("Await(rank %d, %v, %v): %w", target, disp, until, err)
	case !until.Holds(value):
		p.Fail("Await(rank %d, %v, %v) returned %#x", target, disp, until, value)
	}
	return value
}

// Meet waits until all ranks have called Meet as often. It flushes nothing.
func (p *Player) Meet() {
	p.met++
	p.FetchOp(0, p.meeting, rma.Sum, 1)
	p.await(0, p.meeting, rma.AtLeast(uint64(p.met*p.Ranks)))
}

// take marks the word as found and checks that no rank has found it before.
func (p *Player) take(target rma.Rank, disp rma.Disp, what string, args ...any) {
	if by := p.CAS(target, disp, 0, uint64(p.Me)+1); by != 0 {
		p.Fail("%s came twice, first to rank %d", fmt.Sprintf(what, args...), int(by)-1)
	}
}

// Distinct is a value that only rank p uses.
func Distinct(p rma.Rank, i int) uint64 { return 1<<60 | uint64(p)<<32 | uint64(i)<<8 | 0xa5 }

// RefusesEverything tries every operation that takes an address. Each must panic with an *rma.AddressError.
func (p *Player) RefusesEverything(q rma.Rank, disp rma.Disp) {
	word := make([]byte, 8)
	p.refuses("Put", q, disp, func() { p.Put(q, disp, 1) })
	p.refuses("Get", q, disp, func() { p.Get(q, disp) })
	p.refuses("Accumulate", q, disp, func() { p.Accumulate(q, disp, rma.Sum, 1) })
	p.refuses("FetchOp", q, disp, func() { p.FetchOp(q, disp, rma.Sum, 1) })
	p.refuses("CAS", q, disp, func() { p.CAS(q, disp, 0, 1) })
	p.refuses("Await", q, disp, func() { _, _ = p.Await(p.Context, q, disp, rma.AtLeast(0)) })
	p.refuses("PutBytes", q, disp, func() { p.PutBytes(q, disp, word) })
	p.refuses("GetBytes", q, disp, func() { p.GetBytes(q, disp, word) })
}

// refuses checks that an operation panics with an *AddressError that names the
// address.
func (p *Player) refuses(what string, q rma.Rank, disp rma.Disp, operation func()) {
	defer func() {
		value := recover()
		if value == nil {
			p.Fail("%s of rank %d, displacement %v did not panic", what, q, disp)
			return
		}
		err, ok := value.(error)
		refusal, typed := errors.AsType[*rma.AddressError](err)
		switch {
		case !ok || !typed:
			p.Fail("%s of rank %d, displacement %v panicked with %v, want an *rma.AddressError", what, q, disp, value)
		case refusal.Target != q || refusal.Disp != disp || refusal.Operation == "" || refusal.Why == "":
			p.Fail("%s of rank %d, displacement %v panicked with %+v", what, q, disp, *refusal)
		}
	}()
	operation()
}
