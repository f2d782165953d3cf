package stencil

import (
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// Phase says what a block does at a time.
type Phase uint8

const (
	Outside   Phase = iota // the block has not begun its first pass, or has ended its last one
	Waiting                // it waits for its neighbours' faces
	Queued                 // all faces are there, and all workers do something else
	Importing              // it copies the faces of its neighbours
	Computing              // it calls the kernel
	Exporting              // it copies its faces
)

// phases is how many there are.
const phases = Exporting + 1

// Account says how a block has spent the time, and what it has imported.
type Account struct {
	// Spent is the time in each phase. Ended is when the last phase ended.
	Spent [phases]time.Duration
	Ended time.Duration
	// Imports counts the faces of neighbours that it has copied, and Bytes their bytes.
	Imports, Bytes int64
	// Early counts the faces that had come when the block ended the piece before.
	Early int64
	// Hidden is how long faces travelled while the block did something else. A face travels from its announcement until
	// it has come. Hidden counts until the block begins to wait. A face of the same node has come when its block has
	// computed it.
	Hidden time.Duration
}

// Account says what the block of a number has done. Call it after the run, for a block of this node. It is zero without
// Options.Clock.
func (g *Grid) Account(block int) Account { return g.tiles[block].watch.Account }

// Spent is how long this node's blocks were in each phase, all together. It counts until now, or until all of them have
// ended. It may be called at any time, if Options.Live is set.
//
// A block tells of a phase when the next one begins. So a call may count a moment to the phase before, and the next call
// may return a bit less of it.
func (g *Grid) Spent() (sum [phases]time.Duration) {
	var until [phases]int64 // so many blocks are in each phase
	var begun [phases]time.Duration
	now, ended := g.o.Clock(), time.Duration(0)
	going := false
	for _, t := range g.tiles {
		if t.node != g.rt.Node() {
			continue
		}
		spent, phase, at, over := t.watch.live.read()
		for p := range spent {
			sum[p] += spent[p]
		}
		until[phase]++
		begun[phase] += min(at, now) // the phase may have begun after this call read the clock
		ended = max(ended, at)
		going = going || !over
	}
	if !going {
		now = ended
	}
	for p := range sum {
		sum[p] += time.Duration(until[p])*now - begun[p]
	}
	return sum
}

// watch belongs to the piece that runs.
type watch struct {
	Account
	phase Phase
	since time.Duration
	live  spending
}

// spending is an account that others read while it changes. A reader reads again until turn is even, and the same before
// and after.
//
//	turn    each change adds 1 when it begins and when it ends
//	at      when the phase began, and the phase
type spending struct {
	turn  atomic.Uint64
	at    atomic.Uint64
	spent [phases]atomic.Int64
}

const phaseBits = 3

// read returns the times of the ended phases, the present phase, when it began, and whether it is the last.
func (l *spending) read() (spent [phases]time.Duration, phase Phase, at time.Duration, over bool) {
	for {
		turn, word := l.turn.Load(), l.at.Load()
		for p := range spent {
			spent[p] = time.Duration(l.spent[p].Load())
		}
		if turn&1 > 0 || l.turn.Load() != turn {
			continue // the task stores a change
		}
		phase = Phase(word & (1<<phaseBits - 1))
		return spent, phase, time.Duration(word >> phaseBits), phase == Outside && turn > 0
	}
}

// enter ends a phase, which took so much time until now, and begins another one.
func (l *spending) enter(ended Phase, spent time.Duration, begun Phase, at time.Duration) {
	l.turn.Add(1)
	l.spent[ended].Store(int64(spent))
	l.at.Store(uint64(at)<<phaseBits | uint64(begun))
	l.turn.Add(1)
}

// enter begins a phase.
func (p *piece) enter(phase Phase) {
	w, o := &p.watch, &p.grid.o
	if o.Clock == nil {
		return
	}
	now := o.Clock()
	w.change(phase, now, o.Live)
	if o.Observe != nil {
		o.Observe(p.task, phase, now)
	}
}

// change ends a phase, and begins another one at a time.
func (w *watch) change(phase Phase, at time.Duration, live bool) {
	w.Spent[w.phase] += at - w.since
	if live {
		w.live.enter(w.phase, w.Spent[w.phase], phase, at)
	}
	w.phase, w.since, w.Ended = phase, at, at
}

// begun ends the phases Waiting and Queued, since a worker has begun the piece. The wait has ended when the last face had come.
// Then what else the task has access to was there, too: its neighbours have read their faces before they computed these.
func (p *piece) begun() {
	w, o := &p.watch, &p.grid.o
	if o.Clock == nil || w.phase != Waiting {
		return
	}
	ready := w.since
	for i := range p.reads {
		ready = max(ready, p.reads[i].there())
	}
	w.change(Queued, ready, o.Live)
}

// there is when a face had come: when its task computed it, or it came from another node.
func (r *port) there() time.Duration {
	if r.far != nil {
		return time.Duration(r.far.at.Load())
	}
	return r.face.computed
}

// tell tells the observer of a task that only exports.
func (t *tile) tell(task *orwl.Task, phase Phase) {
	if o := &t.grid.o; o.Observe != nil {
		o.Observe(task, phase, o.Clock())
	}
}

// arrival is when the last face from another node came.
type arrival struct {
	clock func() time.Duration
	at    atomic.Int64
}

// Observe implements queue.Observer.
func (a *arrival) Observe(queue.Event) { a.at.Store(int64(a.clock())) }

// follow observes when a face comes that another node sends. It returns nil for a face of this node.
func (p *piece) follow(d direction, access *queue.Place) *arrival {
	clock := p.grid.o.Clock
	n, _ := p.grid.neighbour(p.at, d)
	if clock == nil || p.node != p.grid.rt.Node() || p.grid.tileAt(n).node == p.node {
		return nil
	}
	far := &arrival{clock: clock}
	access.Observe(far, queue.GrantedFar)
	return far
}

// imported counts an import. there is when the face had come, and asked is when the block began to wait for it.
func (p *piece) imported(r *port, there, asked time.Duration) {
	if p.grid.o.Clock == nil {
		return
	}
	p.watch.count(r.exchange.layout.bytes, p.announced, there, asked)
}

func (a *Account) count(bytes int, announced, there, asked time.Duration) {
	a.Imports++
	a.Bytes += int64(bytes)
	if there <= asked {
		a.Early++
	}
	a.Hidden += max(0, min(asked, there)-announced)
}
