package rma

import (
	"context"
	"fmt"
	"sync/atomic"

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
	// NoOp leaves the word as it is. FetchOp with NoOp is an atomic read, ordered
	// with the other atomic operations on the word.
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

// Window is one rank's view of the fabric. One goroutine at a time uses it. The
// windows of different ranks are independent. The package documentation says
// when an operation is complete and what a failure does.
type Window interface {
	// Rank is the rank that this view belongs to.
	Rank() Rank

	// Put stores value in target's word. It is locally complete on return and
	// remotely complete after Flush(target).
	Put(target Rank, disp Disp, value uint64)

	// Get returns target's word. It does not wait for this rank's own
	// unflushed operations.
	Get(target Rank, disp Disp) uint64

	// Accumulate applies op to target's word, atomically with respect to every
	// other word operation. It is locally complete on return and remotely
	// complete after Flush(target).
	Accumulate(target Rank, disp Disp, op Op, operand uint64)

	// FetchOp applies op to target's word atomically and returns the previous
	// value. It is complete on return.
	FetchOp(target Rank, disp Disp, op Op, operand uint64) uint64

	// CAS stores new in target's word if the word holds old, atomically. It
	// returns the previous value: if that equals old, the swap happened. It is
	// complete on return.
	CAS(target Rank, disp Disp, old, new uint64) uint64

	// Flush returns when every operation that this rank issued to target is
	// remotely complete: applied, and visible to every rank.
	Flush(target Rank)

	// FlushAll is Flush of every target.
	FlushAll()

	// Await returns the value of target's word as soon as until holds for it. It
	// may miss a value that the word holds only for a moment. Only word
	// operations wake a rank that waits. Bulk transfers do not.
	//
	// Await returns an error and no value in two cases. If the window has
	// failed, the error is the window's, even if the condition holds. If ctx is
	// done and the condition does not hold, the error is ctx.Err(). This error
	// is not sticky: the window stays usable.
	//
	// A wait for a word of the rank's own segment is cheap everywhere. A wait
	// for another rank's word costs no core and no polling in shared memory. In
	// other worlds it costs at least one round trip.
	//
	// One rank made the condition true. Everything that this rank had completed
	// before is visible after Await returns.
	Await(ctx context.Context, target Rank, disp Disp, until Until) (uint64, error)

	// Pause lets about the time of n local memory accesses pass. Algorithms use
	// it to back off. It yields the processor when n is large.
	Pause(n int)

	// PutBytes stores src, whole words in the machine's byte order, from disp
	// on. It is locally complete on return: the caller may reuse src. It is
	// remotely complete after Flush(target). A bulk transfer is not atomic: the
	// caller excludes concurrent access to the same words.
	PutBytes(target Rank, disp Disp, src []byte)

	// GetBytes fills dst, whole words, from disp on. It is complete on return.
	// It is not atomic. If the window has failed, it fills dst with zeroes.
	//
	// A bulk transfer of no bytes is allowed at every displacement where a
	// longer one could begin or end.
	GetBytes(target Rank, disp Disp, dst []byte)

	// Attach adds zeroed dynamic memory to this rank's own segment. If words is
	// less than 1 or more than fit, the error is an *AllocError.
	Attach(words int) (Region, error)

	// Detach removes memory that Attach or Expose added. A later access to it
	// panics with an *AddressError. The caller excludes accesses under way.
	// Detach also works on a window that has failed.
	Detach(base Disp) error

	// Err is the failure of this window, or nil.
	Err() error
}

// Region is a piece of dynamic memory.
type Region struct {
	// Base is the displacement of its first word, for all ranks.
	Base Disp
	// Words is the owner's view of it. It is ordinary memory: the owner uses it
	// only while no other rank accesses it.
	Words []uint64
}

// Fabric is all ranks of a run.
type Fabric interface {
	// Topology is the tree of the machine. Its leaves are the ranks.
	Topology() *topology.Tree

	// Alloc reserves words of zeroed memory at the same displacement on every
	// rank. If the ranks live in several processes, every process makes the same
	// allocations in the same order. If words is less than 1 or more than fit,
	// the error is an *AllocError that says how many words are free.
	Alloc(words int) (Disp, error)

	// Window is rank p's view, the same window each time. If p does not live in
	// this process, the error is a *RankError.
	Window(p Rank) (Window, error)

	// Close ends the fabric for the ranks of this process: their windows fail
	// with ErrClosed and their Awaits return. Any goroutine may call it, at any
	// time, more than once. An operation under way takes effect or does not.
	Close() error
}

// Disp is the displacement of a word in a rank's segment, in words.
type Disp int64

// A displacement of allocated memory is a plain word index. A displacement of
// dynamic memory has three parts: a slot, the slot's generation and an offset.
//
//	bit 62    61..52       51..32   31..0
//	┌───┬───────────────┬─────────┬─────────────────┐
//	│ 1 │  generation   │  slot   │  offset, words  │
//	└───┴───────────────┴─────────┴─────────────────┘
//
// Each new region in a slot has the next generation. So an access by a
// displacement from before a Detach is refused: it misses the slot's next region.
const (
	dynamicBit     = Disp(1) << 62
	generationBits = 10
	slotBits       = 20
	offsetBits     = 32

	// MaxSlots is the number of dynamic regions that a rank can have at a time.
	MaxSlots = 1 << slotBits
	// MaxRegion is the size of the largest dynamic region, in words.
	MaxRegion = 1 << offsetBits
)

// Dynamic is the displacement of the first word of the region in slot. It keeps
// the low bits of generation.
func Dynamic(slot int, generation uint64) Disp {
	g := Disp(generation % (1 << generationBits))
	return dynamicBit | g<<(slotBits+offsetBits) | Disp(slot)<<offsetBits
}

// IsDynamic reports whether d names dynamic memory.
func (d Disp) IsDynamic() bool { return d&dynamicBit != 0 && d > 0 }

// Dynamic returns the parts of a dynamic displacement. The generation has only
// the bits that fit into a displacement.
func (d Disp) Dynamic() (slot int, generation uint64, offset int) {
	slot = int(d>>offsetBits) & (MaxSlots - 1)
	generation = uint64(d>>(slotBits+offsetBits)) & (1<<generationBits - 1)
	return slot, generation, int(d & (MaxRegion - 1))
}

func (d Disp) String() string {
	if !d.IsDynamic() {
		return fmt.Sprintf("%d", int64(d))
	}
	slot, generation, offset := d.Dynamic()
	return fmt.Sprintf("region %d.%d+%d", slot, generation, offset)
}

// Relation compares a word with a value.
type Relation uint8

// The relations. Less and GreaterOrEqual compare signed integers, as the
// counters of the papers do.
const (
	Equal Relation = iota
	NotEqual
	Less
	GreaterOrEqual
)

// Until is a condition on a word: it compares word&Mask with Value. It is data,
// not a function, for two reasons. The rank that changes the word, possibly on
// another machine, evaluates it to find the ranks to wake. A trace prints it.
type Until struct {
	Mask  uint64
	Value uint64
	Rel   Relation
}

const allBits = ^uint64(0)

// Is waits for a word to equal v.
func Is(v uint64) Until { return Until{allBits, v, Equal} }

// IsNot waits for a word to differ from v.
func IsNot(v uint64) Until { return Until{allBits, v, NotEqual} }

// Below waits for a word less than v, as signed integers.
func Below(v uint64) Until { return Until{allBits, v, Less} }

// AtLeast waits for a word greater than or equal to v, as signed integers.
func AtLeast(v uint64) Until { return Until{allBits, v, GreaterOrEqual} }

// Masked is the same condition on the bits of mask alone.
func (u Until) Masked(mask uint64) Until {
	u.Mask = mask
	return u
}

// Holds reports whether word satisfies the condition.
func (u Until) Holds(word uint64) bool {
	word &= u.Mask
	switch u.Rel {
	case Equal:
		return word == u.Value
	case NotEqual:
		return word != u.Value
	case Less:
		return int64(word) < int64(u.Value)
	default:
		return int64(word) >= int64(u.Value)
	}
}

func (u Until) String() string {
	sign := [...]string{"==", "!=", "<", ">="}[u.Rel]
	if u.Mask == allBits {
		return fmt.Sprintf("%s %d", sign, int64(u.Value))
	}
	return fmt.Sprintf("&%#x %s %d", u.Mask, sign, int64(u.Value))
}

// Shared is the capability of a window whose ranks share coherent memory with
// others: atomic instructions instead of operations.
type Shared interface {
	Window

	// Direct is target's word at disp. It reports false where the process cannot
	// load and store target's memory, and when the window has failed. An address
	// out of range panics, as in any operation.
	//
	// An access of the word does not look at the window: it takes effect on a
	// window that has failed since, and a change wakes no rank.
	Direct(target Rank, disp Disp) (Word, bool)

	// Memory is target's memory from disp on, n words, as Direct is one of them: for a
	// program that excludes other ranks while it uses the words, or that uses
	// sync/atomic. The simulator has none to give, because it would not see the
	// accesses.
	Memory(target Rank, disp Disp, n int) ([]uint64, bool)

	// Notify wakes the ranks that await target's word and whose condition is
	// true. Call it after changing a Word that another rank may await.
	Notify(target Rank, disp Disp)

	// Failed becomes true when Err becomes an error. An algorithm that accesses
	// words looks at it where it decides something.
	Failed() *atomic.Bool
}

// Immediate is the capability of a window whose operations are complete for every rank when
// they return: Flush and FlushAll do nothing.
type Immediate interface {
	Window

	// Immediate marks the capability.
	Immediate()
}

// Considerate is the capability of a window that keeps a lock out of convoys. In a
// convoy each turn of a lock costs a sleep, because all ranks wait in its queue and
// sleep there. It forms where ranks outnumber processors.
//
// The window knows how its rank waits and when, and decides for how long the rank keeps
// away from the lock. The lock reports two events and nothing else.
type Considerate interface {
	Window

	// HandedOver reports that the rank has handed the lock over to a rank that waits
	// for it.
	HandedOver()

	// Returns reports that the rank comes for the lock again, and is not in its queue
	// yet. Call it if the rank has handed over since the last call, or if it has had
	// as many turns as the last call said. turns is how many it has had since then.
	//
	// It may let other ranks run before it returns. Call it again after so many turns
	// though the rank does not hand over; never, if again is 0.
	Returns(turns int) (again int)
}

// Exposer is the capability of a fabric that can show other ranks memory which
// the caller owns. A fabric between processes of one machine cannot: a process's
// private memory is private; there, Window.Attach gives memory that all reach.
type Exposer interface {
	Fabric

	// Expose makes memory part of rank p's segment until Detach. While it is
	// exposed it is accessed only as the contract says.
	Expose(p Rank, memory []uint64) (Disp, error)
}

// Labeler is the capability of a fabric that prints traces.
type Labeler interface {
	// Label names the words from disp on in traces.
	Label(disp Disp, words int, name string)
}

// Label names words of symmetric memory where the fabric prints traces.
func Label(f Fabric, disp Disp, words int, name string) {
	if l, ok := f.(Labeler); ok {
		l.Label(disp, words, name)
	}
}
