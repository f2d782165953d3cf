package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
	"golang.org/x/sys/unix"
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
	survive  bool
	told     func(err error) // called when a process is lost

	mu      sync.Mutex
	windows map[rma.Rank]*direct.Window // the ranks of this process
	waker   *waker                      // nil unless this process has several ranks
	lost    []rma.Rank                  // the windows know of these losses, if they survive
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
		return f.view(w), nil
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
	if f.survive {
		w.Survive()
		for _, q := range f.lost {
			w.Lose(f.loss(q))
		}
	}
	if f.err != nil {
		w.Fail(f.err)
	}
	return f.view(w), nil
}

// view is a window as the fabric shows it.
func (f *Fabric) view(w *direct.Window) rma.Window {
	if f.survive {
		return direct.Survivor{Window: w}
	}
	return w
}

// accommodate gives rank p a place to sleep. The second rank makes the process
// employ a waker, for the first one too.
func (f *Fabric) accommodate(p rma.Rank) {
	f.sleeper.beds[p].Store(&bed{hint: make(chan struct{}, 1)})
	if len(f.windows) == 0 {
		return
	}
	if f.waker == nil {
		f.sleeper.shared.Store(true)
		for first := range f.windows {
			f.waker = newWaker(f.sleeper, first)
			f.waker.serve(first)
		}
	}
	f.waker.serve(p)
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
		if f.waker != nil {
			f.waker.leave()
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

// mourn tells the windows of this process, which survive, of each rank that is lost and
// that they do not know of. Only the watch calls it, and only it writes lost.
func (f *Fabric) mourn() {
	for i := range f.claims {
		p := rma.Rank(i)
		if f.claims[i].state.Load() != lost || slices.Contains(f.lost, p) {
			continue
		}
		loss := f.loss(p)
		f.told(loss)
		f.mu.Lock()
		f.lost = append(f.lost, p)
		for q, w := range f.windows {
			w.Lose(loss)
			f.sleeper.Wake(q) // a lost process may have owed the wake-up
		}
		f.mu.Unlock()
	}
}

// locks are how processes see that another one lives. A process that claims a rank
// holds a write lock on the byte of the file with the rank's number, until it closes
// the fabric or ends. The kernel drops the lock at once, however the process ends, also
// before its parent reaps it. Process ids are no help: they are reused, and differ
// between containers.
//
// The locks belong to an open file description that no other process shares.
// Two fabrics opened by one process are strangers to each other.
type locks struct{ file *os.File }

// take locks rank p's byte. It reports false if another process has it.
func (l locks) take(p rma.Rank) (bool, error) {
	err := l.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: int64(p), Len: 1})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// drop unlocks rank p's byte.
func (l locks) drop(p rma.Rank) error {
	return l.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: int64(p), Len: 1})
}

// held reports whether another process has the lock of rank p's byte. When in
// doubt it does.
func (l locks) held(p rma.Rank) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(p), Len: 1}
	return l.fcntl(unix.F_OFD_GETLK, &lock) != nil || lock.Type != unix.F_UNLCK
}

func (l locks) fcntl(command int, lock *unix.Flock_t) error {
	return control(l.file, func(fd int) error { return unix.FcntlFlock(uintptr(fd), command, lock) })
}

// A process claims a rank in two steps: it takes the rank's lock, then writes its
// claim. It leaves the rank in two steps: it writes the claim's state, then drops the
// lock. So a claim that is alive and whose lock is free belongs to a process that
// ended without leaving.

// claim makes rank p one of this process's.
func (f *Fabric) claim(p rma.Rank) error {
	c := &f.claims[p]
	free, err := f.locks.take(p)
	if err != nil {
		return fmt.Errorf("shm: claiming rank %d: %w", p, err)
	}
	if free && c.owner.CompareAndSwap(0, f.me) {
		return nil
	}
	refusal := &rma.RankError{Rank: p, Ranks: len(f.claims)}
	switch owner := c.owner.Load(); {
	case !free && owner == 0:
		refusal.Why = "another process is claiming it"
	case !free:
		refusal.Why = fmt.Sprintf("process %d has it", pid(owner))
	case c.state.Load() == departed:
		refusal.Why = fmt.Sprintf("process %d had it and has left", pid(owner))
	default:
		refusal.Why = fmt.Sprintf("process %d had it and is gone", pid(owner))
	}
	if free {
		if err := f.locks.drop(p); err != nil {
			return fmt.Errorf("shm: giving up rank %d: %w", p, err)
		}
	}
	return refusal
}

// depart leaves the ranks of this process. The locks go when their file is
// closed.
func (f *Fabric) depart() {
	for p := range f.claims {
		if f.claims[p].owner.Load() == f.me {
			f.claims[p].state.CompareAndSwap(alive, departed)
		}
	}
}

// pid is the process id of an owner, in its own pid namespace.
func pid(owner uint64) uint32 { return uint32(owner) }

// Create makes a fabric, to be handed to the other processes by File or Path.
func Create(options Options) (*Fabric, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	l, err := options.geometry().layout()
	if err != nil {
		return nil, err
	}
	file, err := newFile(l.size)
	if err != nil {
		return nil, err
	}
	if err := writeHeader(file, options); err != nil {
		file.Close()
		return nil, err
	}
	return newFabric(file, l, options)
}

// Open joins the fabric in file. The process inherited the file from one that put File
// of its fabric into exec.Cmd.ExtraFiles, or opened its Path for reading and writing.
// The file remains the caller's: close it at any time.
//
// A file that is no fabric is ErrNotAFabric. A fabric that was made with other options
// is a *MismatchError.
func Open(file *os.File, options Options) (*Fabric, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	l, err := readHeader(file, options)
	if err != nil {
		return nil, err
	}
	file, err = reopen(file)
	if err != nil {
		return nil, err
	}
	return newFabric(file, l, options.withDefaults())
}

// newFabric maps the fabric in file, which is its own from now on, and begins
// to watch it.
func newFabric(file *os.File, l layout, options Options) (*Fabric, error) {
	own, err := reopen(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	m, err := mapMemory(own, l.size)
	if err != nil {
		own.Close()
		file.Close()
		return nil, err
	}
	world, sleeper := newWorld(m, l, options.Here)
	f := &Fabric{
		topology: options.Topology,
		memory:   m,
		header:   view[header](m, 0),
		claims:   views[claim](m, l.claims, l.ranks),
		locks:    locks{own},
		file:     file,
		path:     fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()),
		heap:     heap{log: views[atomic.Uint64](m, l.log, l.words)},
		world:    world,
		sleeper:  sleeper,
		here:     options.Here,
		survive:  options.Survive,
		told:     options.Lost,
		windows:  make(map[rma.Rank]*direct.Window),
		quit:     make(chan struct{}),
		watched:  make(chan struct{}),
	}
	f.me = f.header.processes.Add(1)<<32 | uint64(os.Getpid())
	f.stop = context.AfterFunc(options.Context, func() { f.Fail(context.Cause(options.Context)) })
	go f.watch()
	return f, nil
}

// newWorld finds in the memory what all windows share. Ranks that run here compete for its
// processors.
func newWorld(m *memory, l layout, here func(p rma.Rank) bool) (*direct.World, *sleeper) {
	ranks := 0
	for p := range l.ranks {
		if here(rma.Rank(p)) {
			ranks++
		}
	}
	world := &direct.World{
		Segments: make([]direct.Segment, l.ranks),
		Memory:   newPools(m, l),
		Spin:     patience.Processes(ranks, runtime.NumCPU(), direct.LookTime()),
		Crowd:    considerate.Processes(ranks, runtime.NumCPU()),
	}
	lobbies := make([]*lobby, l.ranks)
	for p := range lobbies {
		lobby := view[lobby](m, l.lobbyOf(p))
		lobbies[p] = lobby
		world.Segments[p] = direct.Segment{
			Heap:    views[uint64](m, l.heapOf(p), l.words),
			Room:    &lobby.room,
			Waiters: views[atomic.Uint64](m, l.waitersOf(p), direct.WaiterWords(l.ranks)),
			Guests:  views[uint32](m, l.guestsOf(p), direct.GuestPlaces(l.ranks)),
		}
	}
	sleeper := newSleeper(m, lobbies)
	world.Sleeper = sleeper
	return world, sleeper
}
