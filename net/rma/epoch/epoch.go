package epoch

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Set is foMPI's set of synchronisation modes, over any fabric: fence,
// post/start/complete/wait, lock/unlock and lock_all (Gerstenberger, Besta,
// Hoefler, "Enabling Highly Scalable Remote Memory Access Programming with MPI-3
// One Sided", §2.4). Flush is the window's own.
//
// Each process makes a Set once, as one of its allocations, and each rank
// uses its own part of it, which At returns. In every rank's segment lie
//
//	  fence             post, start, complete, wait   lock, lock_all
//	┌─────────────────┬──────┬──────┬───────────────┬────────┬───────┐
//	│ signals [log P] │ tail │ done │ posts [k]     │ global │ local │
//	└─────────────────┴──────┴──────┴───────────────┴────────┴───────┘
//
// that is O(log P + k) words, k being Options.Neighbours, and nowhere a
// list of all ranks.
//
// The costs, in operations on other ranks' memory, beside the flushes that
// complete what the caller itself had under way:
//
//	Fence      ⌈log₂ P⌉ puts and flushes; waits for own words
//	Post       2 atomics for each rank of the group; waits only for room
//	Start      none; waits for own words
//	Complete   1 accumulate and 1 flush for each rank of the group
//	Wait       none; waits for an own word
//	Lock       1 atomic if shared, 2 if exclusive (1 if others are held already)
//	Unlock     1 accumulate and 1 flush if shared, 2 and 2 if exclusive
//	LockAll    1 atomic
//	UnlockAll  1 accumulate and 1 flush
//
// A lock that is contended costs one wait and, if exclusive, one more atomic
// for every time that somebody else was faster.
type Set struct {
	ranks   int
	barrier barrier
	posts   posts
	locks   lockWords

	mu  sync.Mutex // guards own; nobody waits while holding it
	own map[rma.Rank]*Sync
}

// Options describe a Set.
type Options struct {
	// Neighbours is k, how many posts a rank has room for between two calls of
	// Start: the largest number of ranks that post to any one rank. A Post
	// beyond that waits for a Start of that rank. If zero, the number of ranks
	// or DefaultNeighbours, whichever is less.
	Neighbours int
}

// DefaultNeighbours is more than a stencil needs.
const DefaultNeighbours = 64

func (o Options) withDefaults(ranks int) Options {
	if o.Neighbours == 0 {
		o.Neighbours = min(ranks, DefaultNeighbours)
	}
	return o
}

func (o Options) validate() error {
	if o.Neighbours < 1 {
		return fmt.Errorf("epoch: Options.Neighbours is %d, want at least 1", o.Neighbours)
	}
	return nil
}

// New allocates the words of a Set. Every process does it at the same
// place in its order of allocations.
func New(f rma.Fabric, options Options) (*Set, error) {
	ranks := f.Topology().Ranks()
	options = options.withDefaults(ranks)
	if err := options.validate(); err != nil {
		return nil, err
	}
	all := &Set{ranks: ranks, own: make(map[rma.Rank]*Sync)}
	var err error
	if all.barrier, err = newBarrier(f, "epoch.signals"); err != nil {
		return nil, err
	}
	if all.posts, err = newPosts(f, options.Neighbours); err != nil {
		return nil, err
	}
	if all.locks, err = newLockWords(f); err != nil {
		return nil, err
	}
	return all, nil
}

// At is the part of w's rank; the same one each time.
func (all *Set) At(w rma.Window) *Sync {
	all.mu.Lock()
	defer all.mu.Unlock()
	e := all.own[w.Rank()]
	if e == nil {
		e = &Sync{
			w:      w,
			ranks:  all.ranks,
			fence:  passage{barrier: all.barrier},
			posts:  all.posts,
			early:  make(map[rma.Rank]bool),
			absent: make(map[rma.Rank]bool),
			locks:  all.locks,
			held:   make(map[rma.Rank]Mode),
		}
		all.own[w.Rank()] = e
	}
	return e
}

// Sync is one rank's part of a Set. Like the rank's window it is used by
// one goroutine at a time.
//
// A rank has at most one exposure epoch (Post to Wait) and at most one kind of
// access epoch (Start to Complete, or any number of Locks of different ranks,
// or LockAll) open at a time; the two are independent of each other. Fence is
// for ranks that have none open. A breach is an *Error and changes nothing.
//
// A method whose context is done before it begins does nothing. What happens
// when the context ends while it waits is said at each method. A method of a
// window that has failed returns an *Error that wraps the window's error,
// and holds nothing: the epoch is over.
type Sync struct {
	w     rma.Window
	ranks int

	fence    passage
	meeting  string       // the operation whose fence is under way
	exposing *Traditional // the one that Expose is making

	posts    posts
	exposure exposure
	access   []rma.Rank // the group of Start
	started  bool
	taken    uint64            // posts that this rank has taken out of its mailbox
	early    map[rma.Rank]bool // those of them that no Start has asked for yet
	absent   map[rma.Rank]bool // scratch of Start
	sorted   []rma.Rank        // scratch of checkGroup

	locks     lockWords
	held      map[rma.Rank]Mode
	exclusive int // of held
	heldAll   bool
}

// Window is the window of the epoch's rank.
func (e *Sync) Window() rma.Window { return e.w }
