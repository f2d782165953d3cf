package epoch

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Set is the epochs of all ranks of a fabric.
type Set struct {
	ranks   int
	barrier barrier
	posts   posts
	locks   lockWords

	mu  sync.Mutex // guards own; its holder never waits
	own map[rma.Rank]*Sync
}

// Options describe a Set.
type Options struct {
	// Neighbours is k, the number of posts that a rank has room for between two
	// calls of Start. It should be the largest number of ranks that post to any
	// one rank. A Post that finds no room waits for a Start of that rank. If
	// Neighbours is 0, k is the number of ranks, but at most DefaultNeighbours.
	Neighbours int
}

// DefaultNeighbours is the largest default of Options.Neighbours. It is more than
// a stencil needs.
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

// New allocates the words of a Set. Every process calls it at the same place in
// its order of allocations.
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

// At is the part of w's rank, the same one each time.
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

// Sync is one rank's part of a Set. One goroutine at a time uses it, as with the
// rank's window. The package documentation says which epochs may be open together.
type Sync struct {
	w     rma.Window
	ranks int

	fence    passage
	meeting  string       // the operation whose fence is under way
	exposing *Traditional // the window that an Expose under way makes

	posts    posts
	exposure exposure
	access   []rma.Rank // the group of Start
	started  bool
	taken    uint64            // posts that this rank has taken out of its mailbox
	early    map[rma.Rank]bool // taken, and no Start has asked for them yet
	absent   map[rma.Rank]bool // scratch of Start
	sorted   []rma.Rank        // scratch of checkGroup

	locks     lockWords
	held      map[rma.Rank]Mode
	exclusive int // number of exclusive locks in held
	heldAll   bool
}

// Window is the window of the epoch's rank.
func (e *Sync) Window() rma.Window { return e.w }
