package rma

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/topology"
)

// Rank is a place of execution, 0..P-1.
type Rank = topology.Rank

// Op is what Accumulate and FetchOp do to a word.
type Op uint8

const (
	// Sum adds the operand, with wrap-around.
	Sum Op = iota
	// Replace stores the operand.
	Replace
	// NoOp leaves the word alone; FetchOp with NoOp is an atomic read that is
	// ordered with the other atomic operations on the word.
	NoOp
)

func (op Op) String() string {
	switch op {
	case Sum:
		return "sum"
	case Replace:
		return "replace"
	case NoOp:
		return "no-op"
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// Window is one rank's view of the fabric. It is used by one goroutine at a
// time; different ranks' windows are independent. The package documentation
// says what completes when and what failure does.
type Window interface {
	// Rank is the rank whose view this is.
	Rank() Rank

	// Put stores value in target's word. Locally complete on return; remotely
	// complete after Flush(target).
	Put(target Rank, disp Disp, value uint64)

	// Get returns target's word. It does not wait for this rank's own
	// unflushed operations.
	Get(target Rank, disp Disp) uint64

	// Accumulate applies op to target's word, atomically with respect to every
	// other word operation. Locally complete on return; remotely complete
	// after Flush(target).
	Accumulate(target Rank, disp Disp, op Op, operand uint64)

	// FetchOp applies op to target's word atomically and returns the previous
	// value. Complete on return.
	FetchOp(target Rank, disp Disp, op Op, operand uint64) uint64

	// CAS stores new in target's word if it holds old, atomically, and returns
	// the previous value: the swap happened if that equals old. Complete on
	// return.
	CAS(target Rank, disp Disp, old, new uint64) uint64

	// Flush returns when every operation that this rank issued to target is
	// remotely complete: applied, and visible to every rank.
	Flush(target Rank)

	// FlushAll is Flush of every target.
	FlushAll()

	// Await returns the value of target's word as soon as until holds for it,
	// or an error, and then no value, when the window has failed (its sticky error, whatever the
	// word holds) or ctx is done and the condition does not hold (ctx.Err(),
	// which is not sticky: the window goes on). A value that holds only for a
	// moment may be missed. Whoever changes the word does so by a
	// word operation; bulk transfers wake nobody.
	//
	// Awaiting a word of the own segment is cheap everywhere. Awaiting another
	// rank's word costs no core and no polling in shared memory, and at least
	// a round trip elsewhere.
	//
	// Everything that the rank which made the condition true had completed
	// before is visible after Await returns.
	Await(ctx context.Context, target Rank, disp Disp, until Until) (uint64, error)

	// Pause lets a little time pass, about n local memory accesses, for
	// algorithms that back off. It yields the processor when n is large.
	Pause(n int)

	// PutBytes stores src, whole words in the machine's byte order, from disp
	// on. Locally complete on return (src may be reused); remotely complete
	// after Flush(target). A bulk transfer is not atomic: exclude concurrent
	// access to the same words.
	PutBytes(target Rank, disp Disp, src []byte)

	// GetBytes fills dst, whole words, from disp on. Complete on return. Not
	// atomic. On a window that has failed it fills dst with zeroes.
	//
	// A bulk transfer of no bytes is allowed wherever one of some bytes could
	// begin or end.
	GetBytes(target Rank, disp Disp, dst []byte)

	// Attach adds zeroed dynamic memory to this rank's own segment. Fewer words
	// than one, or more than there are, is an *AllocError.
	Attach(words int) (Region, error)

	// Detach takes back what Attach or Expose gave. A later access to it is an
	// *AddressError; an access under way must be excluded by the caller. It
	// works on a window that has failed, too.
	Detach(base Disp) error

	// Err is the failure that ended this window's work, or nil.
	Err() error
}

// Region is a piece of dynamic memory.
type Region struct {
	// Base is the displacement of its first word, for all ranks.
	Base Disp
	// Words is the owner's own view of it. It is ordinary memory: access by
	// other ranks must be excluded while the owner uses it.
	Words []uint64
}

// Fabric is all ranks of a run.
type Fabric interface {
	// Topology is the tree whose leaves are the ranks.
	Topology() *topology.Tree

	// Alloc reserves words of zeroed memory at the same displacement on every
	// rank. Where the ranks live in several processes, every process makes the
	// same allocations in the same order. Memory that does not fit, or fewer
	// words than one, is an *AllocError that says how many are free.
	Alloc(words int) (Disp, error)

	// Window is rank p's view. It is the same window each time. A rank that
	// does not live in this process is a *RankError.
	Window(p Rank) (Window, error)

	// Close ends the fabric for the ranks of this process: their windows fail
	// with ErrClosed, their Awaits return. It may be called at any time, by any
	// goroutine, and more than once; an operation that it overtakes takes effect
	// or not.
	Close() error
}
