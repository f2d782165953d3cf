package mem

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/park"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// DefaultWords is the size of a rank's symmetric memory unless Options say
// otherwise. Memory that is never touched costs nothing.
const DefaultWords = 1 << 16

// Options describe a fabric.
type Options struct {
	// Topology has the ranks as its leaves. Required.
	Topology *topology.Tree
	// Words is the size of each rank's symmetric memory; DefaultWords if zero.
	Words int
	// Here reports whether a rank runs in this process. A rank that runs elsewhere has no
	// memory and does not count as a competitor for processors. It has a window, by which
	// this process acts for it. If nil, all ranks run here.
	Here func(p rma.Rank) bool
	// Survive makes windows that go on after a loss (rma.Survivor). See Fabric.Lose.
	Survive bool
	// Context ends the fabric when it is done: its error becomes every window's
	// failure. If nil, nothing does.
	Context context.Context
}

func (o Options) withDefaults() Options {
	if o.Words == 0 {
		o.Words = DefaultWords
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Here == nil {
		o.Here = func(rma.Rank) bool { return true }
	}
	return o
}

func (o Options) validate() error {
	if o.Topology == nil {
		return fmt.Errorf("mem: Options.Topology is nil: give the tree of ranks, for instance topology.Flat(8)")
	}
	if o.Words < 1 || o.Words > 1<<32 {
		return fmt.Errorf("mem: Options.Words is %d, want 1 to 1<<32 words for each rank", o.Words)
	}
	return nil
}

// Fabric is all ranks of a process.
type Fabric struct {
	topology *topology.Tree
	windows  []*direct.Window
	survive  bool
	losing   sync.Mutex // held by Lose
	heap     heap
	regions  regions
	stop     func() bool // detaches the fabric from its context
}

var _ rma.Exposer = (*Fabric)(nil)

// New makes a fabric.
func New(options Options) (*Fabric, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	ranks, crowd := options.Topology.Ranks(), 0
	for p := range ranks {
		if options.Here(rma.Rank(p)) {
			crowd++
		}
	}
	regions := newRegions(ranks)
	world := &direct.World{
		Segments: make([]direct.Segment, ranks),
		Places:   make([]*park.Place, ranks),
		Memory:   regions,
		Spin:     patience.Goroutines(crowd, runtime.GOMAXPROCS(0), direct.LookTime()),
		Crowd:    considerate.Goroutines(crowd, runtime.GOMAXPROCS(0)),
	}
	f := &Fabric{
		topology: options.Topology,
		windows:  make([]*direct.Window, ranks),
		survive:  options.Survive,
		heap:     heap{words: options.Words},
		regions:  regions,
	}
	for p := range ranks {
		world.Segments[p] = direct.Segment{
			Room:    new(direct.Room),
			Waiters: make([]atomic.Uint64, direct.WaiterWords(ranks)),
			Guests:  make([]uint32, direct.GuestPlaces(ranks)),
		}
		if options.Here(rma.Rank(p)) {
			world.Segments[p].Heap = make([]uint64, options.Words)
		}
		if f.windows[p] = direct.NewWindow(rma.Rank(p), world); options.Survive {
			f.windows[p].Survive()
		}
	}
	f.stop = context.AfterFunc(options.Context, func() { f.Fail(context.Cause(options.Context)) })
	return f, nil
}

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.topology }

// Alloc implements rma.Fabric.
func (f *Fabric) Alloc(words int) (rma.Disp, error) { return f.heap.alloc(words) }

// Expose implements rma.Exposer.
func (f *Fabric) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	if err := f.heap.failure(); err != nil {
		return 0, err
	}
	if p < 0 || int(p) >= len(f.windows) {
		return 0, &rma.RankError{Rank: p, Ranks: len(f.windows), Why: "ranks count from 0"}
	}
	return f.regions.expose(p, memory)
}

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if p < 0 || int(p) >= len(f.windows) {
		return nil, &rma.RankError{Rank: p, Ranks: len(f.windows), Why: "ranks count from 0"}
	}
	if f.survive {
		return direct.Survivor{Window: f.windows[p]}, nil
	}
	return f.windows[p], nil
}

// Lose makes rank p lost: its window fails, and the windows of the other ranks end their
// epochs. If they do not survive, they fail. The caller makes sure that rank p takes no step
// any more. It is for tests: nothing else loses a goroutine.
func (f *Fabric) Lose(p rma.Rank, why string) {
	f.losing.Lock()
	defer f.losing.Unlock()
	loss := &rma.PeerLostError{Rank: p, Why: why}
	for q, w := range f.windows {
		if f.survive && rma.Rank(q) != p {
			w.Lose(loss)
		} else {
			w.Fail(loss)
		}
	}
}

// Close implements rma.Fabric.
func (f *Fabric) Close() error {
	f.stop()
	f.Fail(rma.ErrClosed)
	return nil
}

// Fail makes err the failure of every window, unless the fabric has failed before.
func (f *Fabric) Fail(err error) {
	f.heap.fail(err)
	for _, w := range f.windows {
		w.Fail(err)
	}
}

// heap hands out symmetric memory from the front.
type heap struct {
	mu          sync.Mutex
	words, used int
	err         error
}

func (h *heap) alloc(words int) (rma.Disp, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return 0, h.err
	}
	if words < 1 || words > h.words-h.used {
		return 0, &rma.AllocError{Words: words, Free: h.words - h.used, Why: rma.ErrNoSpace,
			Hint: "raise Options.Words, or ask for at least one word"}
	}
	base := h.used
	h.used += words
	return rma.Disp(base), nil
}

func (h *heap) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

func (h *heap) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
}

// regions is the dynamic memory of all ranks. Readers, on any rank, look a
// region up without a lock; only Attach, Expose and Detach take one.
type regions []*table

// table is one rank's regions by slot.
type table struct {
	slots atomic.Pointer[[]*slot] // replaced by a longer copy when it must grow

	mu   sync.Mutex
	free []int // slots without a region
}

type slot struct {
	region     atomic.Pointer[region]
	generation uint64 // of the next region; guarded by the table's mu
}

// region is immutable.
type region struct {
	generation uint64
	words      []uint64
}

func newRegions(ranks int) regions {
	all := make(regions, ranks)
	for p := range all {
		all[p] = new(table)
		all[p].slots.Store(new([]*slot))
	}
	return all
}

// Region implements direct.Memory.
func (all regions) Region(target rma.Rank, slot int, generation uint64) []uint64 {
	slots := *all[target].slots.Load()
	if slot >= len(slots) {
		return nil
	}
	if r := slots[slot].region.Load(); r != nil && r.generation == generation {
		return r.words
	}
	return nil
}

// Attach implements direct.Memory.
func (all regions) Attach(p rma.Rank, words int) (rma.Region, error) {
	if words < 1 || words > rma.MaxRegion {
		return rma.Region{}, &rma.AllocError{Words: words, Free: rma.MaxRegion, Why: rma.ErrNoSpace,
			Hint: "a region has at least one word and at most 1<<32"}
	}
	memory := make([]uint64, words)
	base, err := all[p].add(memory)
	return rma.Region{Base: base, Words: memory}, err
}

// expose makes memory a region of rank p.
func (all regions) expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	if len(memory) == 0 || len(memory) > rma.MaxRegion {
		return 0, &rma.AllocError{Words: len(memory), Free: rma.MaxRegion, Why: rma.ErrNoSpace,
			Hint: "an exposed slice has at least one word and at most 1<<32"}
	}
	return all[p].add(memory)
}

// Detach implements direct.Memory.
func (all regions) Detach(p rma.Rank, base rma.Disp) error { return all[p].remove(base) }

// add puts memory into a free slot.
func (t *table) add(memory []uint64) (rma.Disp, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := *t.slots.Load()
	if len(t.free) == 0 {
		if len(slots) == rma.MaxSlots {
			return 0, &rma.AllocError{Words: len(memory), Why: rma.ErrNoSpace,
				Hint: fmt.Sprintf("the rank has %d regions already: detach some", rma.MaxSlots)}
		}
		longer := make([]*slot, max(8, 2*len(slots)))
		copy(longer, slots)
		for i := len(slots); i < len(longer); i++ {
			longer[i] = new(slot)
			t.free = append(t.free, i)
		}
		t.slots.Store(&longer)
		slots = longer
	}
	last := len(t.free) - 1
	at := t.free[last]
	t.free = t.free[:last]
	base := rma.Dynamic(at, slots[at].generation)
	_, generation, _ := base.Dynamic()
	slots[at].region.Store(&region{generation: generation, words: memory})
	return base, nil
}

// remove empties the slot that base names.
func (t *table) remove(base rma.Disp) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := *t.slots.Load()
	at, generation, offset := base.Dynamic()
	if !base.IsDynamic() || at >= len(slots) || offset != 0 {
		return fmt.Errorf("mem: detach of %s: %w", base, rma.ErrNotAttached)
	}
	if r := slots[at].region.Load(); r == nil || r.generation != generation {
		return fmt.Errorf("mem: detach of %s: %w", base, rma.ErrNotAttached)
	}
	slots[at].region.Store(nil)
	slots[at].generation++
	t.free = append(t.free, at)
	return nil
}
