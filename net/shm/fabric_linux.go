package shm

import (
	"os"
	"sync"

	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Fabric is this process's view of all ranks.
type Fabric struct {
	topology *topology.Tree
	memory   *memory
	header   *header
	claims   []claim
	locks    locks
	file     *os.File // to hand on: its description is shared with other processes
	path     string
	me       uint64 // this process, as an owner of claims
	heap     heap
	world    *direct.World
	sleeper  *sleeper
	here     func(p rma.Rank) bool
	told     func(err error) // called when a process is lost

	mu      sync.Mutex
	windows map[rma.Rank]*direct.Window // the ranks of this process
	porter  *porter                     // nil unless this process has several ranks
	err     error
	closed  bool

	closing sync.Once
	stop    func() bool   // detaches the fabric from its context
	quit    chan struct{} // ends the watch
	watched chan struct{} // closed when it has ended
}

var _ rma.Fabric = (*Fabric)(nil)

// File is the fabric as an open file, for exec.Cmd.ExtraFiles of another process. It
// belongs to the fabric, which closes it.
func (f *Fabric) File() *os.File { return f.file }

// Path names the fabric's file for other processes of the same user, while this
// process has the fabric open. The file is in no directory; the name leads through the
// files that this process has open.
func (f *Fabric) Path() string { return f.path }

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.topology }

// Alloc implements rma.Fabric. All processes make the same allocations in the same
// order. The first difference is ErrAsymmetric.
func (f *Fabric) Alloc(words int) (rma.Disp, error) { return f.heap.alloc(words) }

// Window implements rma.Fabric. The first call claims rank p for this process,
// for good: a rank whose process is gone stays gone. It is a *rma.RankError if
// another process has claimed it.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if p < 0 || int(p) >= len(f.claims) {
		return nil, &rma.RankError{Rank: p, Ranks: len(f.claims), Why: "ranks count from 0"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.windows[p]; w != nil {
		return w, nil
	}
	if f.closed {
		return nil, f.err
	}
	if err := f.claim(p); err != nil {
		return nil, err
	}
	f.accommodate(p)
	w := direct.NewWindow(p, f.world)
	f.windows[p] = w
	if f.err != nil {
		w.Fail(f.err)
	}
	return w, nil
}

// accommodate gives rank p a place to sleep. The second rank makes the process
// employ a porter, for the first one too.
func (f *Fabric) accommodate(p rma.Rank) {
	f.sleeper.beds[p].Store(&bed{hint: make(chan struct{}, 1)})
	if len(f.windows) == 0 {
		return
	}
	if f.porter == nil {
		f.sleeper.shared.Store(true)
		for first := range f.windows {
			f.porter = newPorter(f.sleeper, first)
			f.porter.serve(first)
		}
	}
	f.porter.serve(p)
}

// Close implements rma.Fabric: the ranks of this process leave. Other ranks go on, and
// the memory of all stays. A rank that waits for one that left waits for ever, so leave
// after a barrier. A process that ends without Close is lost, and ends the fabric.
//
// Close may overtake operations of this process: they take effect or not, and do not
// fault. The memory stays mapped while a window can be reached. Then it goes back to the
// system, and a slice from Attach or Direct that is kept longer reads zeroes.
func (f *Fabric) Close() error {
	f.closing.Do(func() {
		f.stop()
		f.Fail(rma.ErrClosed)
		f.mu.Lock()
		f.closed = true // no rank is claimed from here on
		f.mu.Unlock()
		close(f.quit)
		<-f.watched
		if f.porter != nil {
			f.porter.leave()
		}
		f.depart()
		f.file.Close()
		f.memory.file.Close()
	})
	return nil
}

// Fail makes err the failure of every window of this process, unless they have one, and
// wakes their ranks. The fabric still has to be closed.
func (f *Fabric) Fail(err error) {
	f.heap.fail(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	for p, w := range f.windows {
		w.Fail(f.err)
		f.sleeper.Wake(p) // a lost process may have owed the wake-up
	}
}
