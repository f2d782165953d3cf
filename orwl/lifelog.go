package orwl

import (
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// lifeLog is a record of the lives of a run, for the page and for metrics. The survival has one, so it outlasts
// the runtimes. Nothing depends on it.
//
//	follow: begins ──▶ cuts: whole, whole, ... ──▶ ended: ends ──▶ follow: begins ...
type lifeLog struct {
	mu     sync.Mutex
	now    pastLife // the present life; its number is 0 before the first one
	past   []pastLife
	cuts   uint64    // whole cuts of all lives
	last   place     // of the last whole cut
	at     time.Time // when it was whole
	copied uint64    // bytes that tasks of this node have copied for cuts
	failed uint64    // records and parts that could not be sent or saved
}

// pastLife is a life.
type pastLife struct {
	number       uint64
	from         place
	seats        []int
	weights      []int // of the nodes, which have these seats
	began, ended time.Time
	why          string // why it ended, if this node knows it
	mortal       string // why no life can follow it
}

// place is where a cut is: after a round of a run. The end of a run is the place before the first round of the next one.
type place struct{ run, round uint64 }

func placeOf(cut lives.Key) place {
	if cut.Round == lives.End {
		return place{cut.Run + 1, 0}
	}
	return place{max(cut.Run, 1), cut.Round}
}

// mostPast is how many lives before this one are remembered.
const mostPast = 16

// begins notes that a life begins from a cut, on some processes with some weights.
func (h *lifeLog) begins(number uint64, cut lives.Key, seats, weights []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.number > 0 {
		h.past = append(h.past, h.now)
		h.past = slices.Delete(h.past, 0, max(0, len(h.past)-mostPast))
	}
	h.now = pastLife{number: number, from: placeOf(cut), seats: slices.Clone(seats), weights: weights, began: time.Now()}
	h.last, h.at = h.now.from, h.now.began
}

// seats are the processes of the present life.
func (h *lifeLog) seats() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now.seats
}

// ends notes why the life has ended, if that is known.
func (h *lifeLog) ends(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now.ended = time.Now()
	if why != nil {
		h.now.why = why.Error()
	}
}

// isLast notes why no life can follow this one.
func (h *lifeLog) isLast(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now.mortal = why.Error()
}

// whole notes that a cut is whole.
func (h *lifeLog) whole(cut lives.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cuts++
	h.last, h.at = placeOf(cut), time.Now()
}

// copies notes that a task has copied so many bytes for a cut.
func (h *lifeLog) copies(bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.copied += uint64(bytes)
}

// fails notes that a part of a cut could not be sent or saved.
func (h *lifeLog) fails() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed++
}

// state is the log as others see it. It is nil before the first life.
func (h *lifeLog) state() *inspect.Life {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.number == 0 {
		return nil
	}
	l := &inspect.Life{
		PastLife: h.now.state(), Mortal: h.now.mortal, Cuts: h.cuts, Copied: h.copied, Failed: h.failed,
		Run: h.last.run, Round: h.last.round, Age: inspect.Seconds{Duration: time.Since(h.at)},
	}
	for i := range h.past {
		l.Past = append(l.Past, h.past[i].state())
	}
	return l
}

func (p *pastLife) state() inspect.PastLife {
	s := inspect.PastLife{Number: p.number, FromRun: p.from.run, From: p.from.round, Seats: p.seats, Weights: p.weights, Began: p.began, Why: p.why}
	if ended := p.ended; !ended.IsZero() {
		s.Ended = &ended
	}
	return s
}
