package netns

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Quality is what becomes of the packets on their way. The zero value delivers all at once.
type Quality struct {
	// Cut drops all packets.
	Cut bool
	// Loss is which share of the packets is dropped, from 0 to 1.
	Loss float64
	// Delay is how long each packet takes, and Jitter by how much longer, at most. No
	// packet overtakes another one.
	Delay, Jitter time.Duration
}

// way leads from one host to another.
type way struct {
	to io.Writer

	mu      sync.Mutex
	quality Quality
	chance  *rand.Rand
	last    time.Time     // when the last packet is due
	queue   []packet      // the packets that are on their way
	arrives chan struct{} // tells deliver that the queue is not empty
	over    chan struct{}
}

// packet is due at some time.
type packet struct {
	bytes []byte
	due   time.Time
}

// mostQueued is how many packets may be on their way. A router would drop those beyond it.
const mostQueued = 4096

func newWay(to io.Writer, seed uint64) *way {
	return &way{to: to, chance: rand.New(rand.NewPCG(seed, 0)), arrives: make(chan struct{}, 1), over: make(chan struct{})}
}

func (w *way) set(q Quality) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quality = q
}

// take drops a packet, or sees to it that it is delivered.
func (w *way) take(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.quality
	if q.Cut || w.chance.Float64() < q.Loss || len(w.queue) == mostQueued {
		return
	}
	if q.Delay == 0 && q.Jitter == 0 && len(w.queue) == 0 {
		w.write(b)
		return
	}
	due := time.Now().Add(q.Delay + time.Duration(w.chance.Int64N(int64(q.Jitter)+1)))
	if due.Before(w.last) {
		due = w.last
	}
	w.last = due
	w.queue = append(w.queue, packet{bytes.Clone(b), due})
	select {
	case w.arrives <- struct{}{}:
	default:
	}
}

// write gives a packet to the host. A host that is closed takes none.
func (w *way) write(b []byte) { _, _ = w.to.Write(b) }

// deliver delivers packets when they are due, until the way is closed. A packet stays in
// the queue until it is delivered, so none overtakes it.
func (w *way) deliver() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.over:
			return
		case <-w.arrives:
		case <-timer.C:
		}
		if next, any := w.flush(time.Now()); any {
			timer.Reset(next)
		}
	}
}

// flush delivers what is due, and tells after which time to come again.
func (w *way) flush(now time.Time) (next time.Duration, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.queue {
		if wait := p.due.Sub(now); wait > 0 {
			w.queue = w.queue[i:]
			return wait, true
		}
		w.write(p.bytes)
	}
	w.queue = nil
	return 0, false
}

func (w *way) close() { close(w.over) }
