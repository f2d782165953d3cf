package shm

import (
	"runtime"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// porter sleeps in the kernel for the ranks of a process that has several. When other
// processes have made their rooms awake it wakes them.
type porter struct {
	sleeper *sleeper
	desk    rma.Rank // the rank in whose lobby the bell is
	guests  atomic.Pointer[[]rma.Rank]
	quit    atomic.Bool
	gone    chan struct{}
}

// ring calls the porter.
func (l *lobby) ring() {
	l.bell.Add(1)
	futexWake(&l.bell)
}

func newPorter(s *sleeper, desk rma.Rank) *porter {
	p := &porter{sleeper: s, desk: desk, gone: make(chan struct{})}
	p.guests.Store(new([]rma.Rank))
	go p.work()
	return p
}

// serve makes the porter look after rank g. The rank may be asleep already.
func (p *porter) serve(g rma.Rank) {
	guests := append([]rma.Rank{g}, *p.guests.Load()...)
	p.guests.Store(&guests)
	p.sleeper.lobbies[g].porter.Store(uint32(p.desk) + 1)
}

// work wakes guests until the fabric is closed. A ring while it looks makes it look
// again: it looks at the bell first, then whether it may leave.
func (p *porter) work() {
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

// leave ends the porter's work.
func (p *porter) leave() {
	p.quit.Store(true)
	p.sleeper.lobbies[p.desk].ring()
	<-p.gone
}
