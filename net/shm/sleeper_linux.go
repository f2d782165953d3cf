package shm

import (
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/rma"
)

// sleeper parks ranks.
//
// The only rank of its process sleeps in the kernel, on the state word of its room. It
// wakes up soonest there, but it keeps a processor of the Go scheduler for a while.
// Several ranks of one process that hand over to each other in this way need 44 µs on
// two processors and 115 µs on one, instead of less than one. So ranks that share a
// process sleep on channels, and the process has a porter that sleeps in the kernel for
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
		if lobby.porter.Load() != 0 {
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
	} else if porter := lobby.porter.Load(); porter != 0 {
		s.lobbies[porter-1].ring()
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
