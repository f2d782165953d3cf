package orwl

import (
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// lifeLog is what a process remembers of the lives of its run, for those who look at it. The survival has one, so it outlasts
// the runtimes. Nothing depends on it.
//
//	follow: begins ──▶ cuts: whole, whole, ... ──▶ ended: ends ──▶ follow: begins ...
type lifeLog struct {
	mu     sync.Mutex
	now    pastLife // the present life; its number is 0 before the first one
	past   []pastLife
	cuts   uint64 // whole cuts of all lives
	round  uint64 // of the last one; 0: there is none
	at     time.Time
	copied uint64 // bytes that tasks of this node have copied for cuts
	failed uint64 // records and parts that could not be sent or saved
}

// pastLife is a life.
type pastLife struct {
	number, from uint64
	seats        []int
	began, ended time.Time
	why          string // it ended, as far as this node knows
	mortal       string // why no life can follow it
}

// mostPast is how many lives before this one are remembered.
const mostPast = 16

// begins notes that a life begins behind a round, on some processes.
func (h *lifeLog) begins(number, from uint64, seats []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.number > 0 {
		h.past = append(h.past, h.now)
		h.past = slices.Delete(h.past, 0, max(0, len(h.past)-mostPast))
	}
	h.now = pastLife{number: number, from: from, seats: slices.Clone(seats), began: time.Now()}
	h.round, h.at = from, h.now.began
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

// whole notes that a cut behind a round is whole.
func (h *lifeLog) whole(round uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cuts++
	h.round, h.at = round, time.Now()
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
		Round: h.round, Age: inspect.Seconds{Duration: time.Since(h.at)},
	}
	for i := range h.past {
		l.Past = append(l.Past, h.past[i].state())
	}
	return l
}

func (p *pastLife) state() inspect.PastLife {
	s := inspect.PastLife{Number: p.number, From: p.from, Seats: p.seats, Began: p.began, Why: p.why}
	if !p.ended.IsZero() {
		s.Ended = &p.ended
	}
	return s
}
