package part

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Options describe a part. All processes of the whole give the same. Only the CPU numbers in
// the topology may differ.
type Options struct {
	// Topology has the ranks of the part as its leaves. Required.
	Topology *topology.Tree
	// Ranks are the ranks of the whole, in the order of the part. Required, one for each
	// leaf, each once.
	Ranks []rma.Rank
	// Base and Words are the symmetric memory of the whole, from Fabric.Alloc, that the
	// part hands out. Parts without a common rank may have the same.
	Base  rma.Disp
	Words int
}

func (o Options) validate(whole rma.Fabric) error {
	switch {
	case o.Topology == nil:
		return fmt.Errorf("part: Options.Topology is nil: give the tree of the part's ranks")
	case len(o.Ranks) != o.Topology.Ranks():
		return fmt.Errorf("part: Options.Ranks are %d, want %d, as many as Options.Topology has", len(o.Ranks), o.Topology.Ranks())
	case o.Words < 0:
		return fmt.Errorf("part: Options.Words is %d, want 0 or more", o.Words)
	}
	known := make(map[rma.Rank]bool)
	for _, p := range o.Ranks {
		if p < 0 || int(p) >= whole.Topology().Ranks() || known[p] {
			return fmt.Errorf("part: Options.Ranks has rank %d: want each once, below %d", p, whole.Topology().Ranks())
		}
		known[p] = true
	}
	return nil
}

// Fabric is a part of another fabric.
type Fabric struct {
	o     Options
	whole rma.Fabric

	mu      sync.Mutex
	used    int
	windows []*Window // nil until Window is called
}

// New makes a part of a fabric. The whole outlives it.
func New(whole rma.Fabric, o Options) (*Fabric, error) {
	if err := o.validate(whole); err != nil {
		return nil, err
	}
	return &Fabric{o: o, whole: whole, windows: make([]*Window, len(o.Ranks))}, nil
}

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.o.Topology }

// Alloc implements rma.Fabric.
func (f *Fabric) Alloc(words int) (rma.Disp, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if words < 1 || words > f.o.Words-f.used {
		return 0, &rma.AllocError{Words: words, Free: f.o.Words - f.used, Why: rma.ErrNoSpace,
			Hint: "raise part.Options.Words, or ask for at least one word"}
	}
	base := f.o.Base + rma.Disp(f.used)
	f.used += words
	return base, nil
}

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if p < 0 || int(p) >= len(f.o.Ranks) {
		return nil, &rma.RankError{Rank: p, Ranks: len(f.o.Ranks), Why: "ranks count from 0"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.windows[p]; w != nil {
		return w, nil
	}
	of, err := f.whole.Window(f.o.Ranks[p])
	if err != nil {
		return nil, fmt.Errorf("part: rank %d: %w", p, err)
	}
	shared, ok := of.(rma.Shared)
	if !ok {
		return nil, fmt.Errorf("part: the windows of a %T are not rma.Shared", f.whole)
	}
	beside, _ := of.(rma.Considerate)
	f.windows[p] = &Window{Shared: shared, beside: beside, rank: p, ranks: f.o.Ranks}
	return f.windows[p], nil
}

// Close implements rma.Fabric. It closes the whole.
func (f *Fabric) Close() error { return f.whole.Close() }
