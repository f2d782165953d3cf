package shm

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/rma"
	"golang.org/x/sys/unix"
)

// sleeper parks ranks.
//
// The only rank of its process sleeps in the kernel, on the state word of its room. It
// wakes up soonest there, but it keeps a processor of the Go scheduler for a while.
// Several ranks of one process that hand over to each other in this way need 44 µs on
// two processors and 115 µs on one, instead of less than one. So ranks that share a
// process sleep on channels, and the process has a waker that sleeps in the kernel for
// all of them.
//
// A wake-up is a hint: the rank looks at its room, and goes on if the room is awake. So
// a hint too many does no harm. A hint may be left out if the room became awake before
// the rank looked.
type sleeper struct {
	memory  *memory // stays mapped while a rank sleeps
	lobbies []*lobby
	beds    []atomic.Pointer[bed] // of the ranks of this process
	shared  atomic.Bool           // the process has several ranks
}

// bed is where a rank of this process sleeps.
type bed struct {
	where atomic.Uint32
	hint  chan struct{}
}

// Where a rank sleeps or is about to.
const (
	nowhere uint32 = iota
	inKernel
	onChannel
)

func newSleeper(m *memory, lobbies []*lobby) *sleeper {
	return &sleeper{memory: m, lobbies: lobbies, beds: make([]atomic.Pointer[bed], len(lobbies))}
}

// Sleep implements direct.Sleeper. The order of its steps keeps hints from getting
// lost: the rank says where it sleeps before it looks at its room, and a rank that wakes
// it makes the room awake before it looks for the rank.
func (s *sleeper) Sleep(p rma.Rank, doze func()) {
	doze()
	lobby, bed := s.lobbies[p], s.beds[p].Load()
	for {
		where := inKernel
		if lobby.waker.Load() != 0 {
			where = onChannel
		}
		bed.where.Store(where)
		seen := lobby.room.State().Load()
		if !lobby.room.Waiting() {
			bed.where.Store(nowhere)
			return
		}
		if where == onChannel {
			<-bed.hint
		} else {
			futexWait(lobby.room.State(), seen)
		}
	}
}

// Wake implements direct.Sleeper.
func (s *sleeper) Wake(p rma.Rank) {
	lobby := s.lobbies[p]
	if bed := s.beds[p].Load(); bed != nil {
		bed.wake(&lobby.room)
	} else if waker := lobby.waker.Load(); waker != 0 {
		s.lobbies[waker-1].ring()
	} else {
		futexWake(lobby.room.State())
	}
}

// Rest implements direct.Sleeper. It sleeps in the kernel, for 10 ms at most.
//
// The only rank of its process keeps its processor of the Go scheduler meanwhile. To
// give it back and to get it again takes longer than a short rest, and the scheduler's
// monitor then runs all the time: 32 processes got unequal shares of a lock (cv 1.1
// instead of 0.45). A garbage collection of the process waits for the rest to end.
// Ranks that share a process let each other run.
func (s *sleeper) Rest(d time.Duration) {
	if s.shared.Load() {
		nanosleep(d)
	} else {
		nanosleepHere(d)
	}
}

func (b *bed) wake(room *direct.Room) {
	switch b.where.Load() {
	case inKernel:
		futexWake(room.State())
	case onChannel:
		select {
		case b.hint <- struct{}{}:
		default: // there is one already
		}
	}
}

// unsafe: the system calls of this file take addresses.

// The futex operations, without FUTEX_PRIVATE_FLAG: the kernel finds the
// sleepers of other processes by the word's place in the file.
const (
	opFutexWait = 0
	opFutexWake = 1
)

// futexWait sleeps while the word has the value seen, until futexWake. It may
// return early.
//
// It uses Syscall, so that the other goroutines of the process have the processor.
// RawSyscall would keep it from them, and a garbage collection would wait for as long
// as this goroutine sleeps.
func futexWait(word *atomic.Uint32, seen uint32) {
	at := uintptr(unsafe.Pointer(word))
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, at, opFutexWait, uintptr(seen), 0, 0, 0)
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
		panic(fmt.Sprintf("shm: futex wait: %v", errno))
	}
}

// futexWake ends every futexWait on the word. It tells the scheduler nothing, since it
// does not block.
func futexWake(word *atomic.Uint32) {
	at := uintptr(unsafe.Pointer(word))
	if _, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, at, opFutexWake, math.MaxInt32, 0, 0, 0); errno != 0 {
		panic(fmt.Sprintf("shm: futex wake: %v", errno))
	}
}

// nanosleep sleeps for d, or less if a signal comes. The other goroutines of the
// process have the processor meanwhile.
func nanosleep(d time.Duration) {
	spec := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&spec, nil)
}

// nanosleepHere is nanosleep that keeps the processor of the Go scheduler.
func nanosleepHere(d time.Duration) {
	spec := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&spec)), 0, 0)
}

// waker sleeps in the kernel for the ranks of a process that has several. When other
// processes have made their rooms awake it wakes them.
type waker struct {
	sleeper *sleeper
	desk    rma.Rank // the rank in whose lobby the bell is
	guests  atomic.Pointer[[]rma.Rank]
	quit    atomic.Bool
	gone    chan struct{}
}

// ring calls the waker.
func (l *lobby) ring() {
	l.bell.Add(1)
	futexWake(&l.bell)
}

func newWaker(s *sleeper, desk rma.Rank) *waker {
	p := &waker{sleeper: s, desk: desk, gone: make(chan struct{})}
	p.guests.Store(new([]rma.Rank))
	go p.work()
	return p
}

// serve makes the waker look after rank g. The rank may be asleep already.
func (p *waker) serve(g rma.Rank) {
	guests := append([]rma.Rank{g}, *p.guests.Load()...)
	p.guests.Store(&guests)
	p.sleeper.lobbies[g].waker.Store(uint32(p.desk) + 1)
}

// work wakes guests until the fabric is closed. A ring while it looks makes it look
// again: it looks at the bell first, then whether it may leave.
func (p *waker) work() {
	defer close(p.gone)
	bell := &p.sleeper.lobbies[p.desk].bell
	for {
		seen := bell.Load()
		if p.quit.Load() {
			return
		}
		for _, g := range *p.guests.Load() {
			if room := &p.sleeper.lobbies[g].room; !room.Waiting() {
				p.sleeper.beds[g].Load().wake(room)
			}
		}
		runtime.Gosched() // to the guests: a processor taken into the kernel comes back late
		futexWait(bell, seen)
	}
}

// leave ends the waker's work.
func (p *waker) leave() {
	p.quit.Store(true)
	p.sleeper.lobbies[p.desk].ring()
	<-p.gone
}

const (
	// watchPeriod is how often a process looks after others. A death is found
	// within one period and known to all within two, unless the machine is too
	// busy to run the watch.
	watchPeriod = 100 * time.Millisecond

	// watched is how many other processes each one looks after. One is not enough,
	// since a process that is stopped looks after none.
	watched = 4
)

// watch finds processes that died, until the fabric is closed.
//
// The processes form a ring, in the order of their lowest ranks, and each looks after
// the next few in it, so that the work per process does not grow with their number. A
// process writes each loss that it finds into the claims, where all see it.
func (f *Fabric) watch() {
	defer close(f.watched)
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	var ring []process
	told := false
	for {
		select {
		case <-f.quit:
			return
		case <-ticker.C:
		}
		ring = f.ring(ring[:0])
		f.lookAfter(ring)
		if p := f.header.lost.Load(); p != 0 && f.survive {
			f.mourn()
		} else if p != 0 {
			loss := f.loss(rma.Rank(p - 1))
			if !told {
				told = true
				f.told(loss)
			}
			f.Fail(loss)
		}
	}
}

// process is a process that has ranks.
type process struct {
	owner uint64
	first rma.Rank // its lowest rank
}

// ring is all processes that have ranks here, by the lowest of these.
func (f *Fabric) ring(ring []process) []process {
	for p := range f.claims {
		owner := f.claims[p].owner.Load()
		if owner == 0 || f.claims[p].state.Load() != alive || !f.here(rma.Rank(p)) {
			continue
		}
		if !slices.ContainsFunc(ring, func(q process) bool { return q.owner == owner }) {
			ring = append(ring, process{owner, rma.Rank(p)})
		}
	}
	return ring
}

// lookAfter checks the processes that come next in the ring. A dead process is no
// neighbour, so it does not count.
func (f *Fabric) lookAfter(ring []process) {
	here := slices.IndexFunc(ring, func(q process) bool { return q.owner == f.me })
	for i, found := 1, 0; i <= len(ring) && found < watched; i++ {
		next := ring[(here+i)%len(ring)]
		if next.owner == f.me {
			continue
		}
		if f.lives(next) {
			found++
		} else {
			f.bury(next)
		}
	}
}

// lives reports whether a process is still there, or has left as it should.
func (f *Fabric) lives(q process) bool {
	return f.locks.held(q.first) || f.claims[q.first].state.Load() != alive
}

// bury records that a process is lost.
func (f *Fabric) bury(q process) {
	for p := range f.claims {
		if f.claims[p].owner.Load() == q.owner {
			f.claims[p].state.CompareAndSwap(alive, lost)
		}
	}
	f.header.lost.CompareAndSwap(0, uint64(q.first)+1)
}

// loss is the failure of this process's windows after the loss of rank p.
func (f *Fabric) loss(p rma.Rank) *rma.PeerLostError {
	return &rma.PeerLostError{Rank: p, Why: fmt.Sprintf(
		"process %d, which had it, ended without closing the fabric: look at its output, then start all processes anew",
		pid(f.claims[p].owner.Load()))}
}
