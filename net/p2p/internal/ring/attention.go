package ring

import (
	"sync"
	"sync/atomic"
)

// Attention says to other nodes whether this one looks at its rings.
type Attention struct {
	mu      sync.Mutex
	word    *atomic.Uint32 // odd: the node does not look
	lookers int
	steps
}

// In has the attention stand in a word that other nodes read.
func (a *Attention) In(word *atomic.Uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.word = word
	if a.lookers == 0 {
		word.Store(1)
	}
}

// Begin says that one more looks, until End.
func (a *Attention) Begin() {
	a.point()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lookers++; a.lookers == 1 && a.word != nil {
		a.word.Add(1)
	}
}

// End ends Begin. If it was the last one, it looks once more until there is nothing: what was written before may not have rung.
// look takes what is there, and reports whether there was something. If wait is set, it waits for a goroutine that is about
// to do the same.
func (a *Attention) End(look func(wait bool) (some bool)) {
	for last := a.leave(); last && look(true); {
	}
}

// Heard is what a goroutine does that hears the bell.
func (a *Attention) Heard(look func(wait bool) (some bool)) {
	a.Begin()
	for look(false) {
	}
	a.End(look)
}

// leave says that one less looks, and reports whether none does now.
func (a *Attention) leave() (last bool) {
	a.point()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookers--
	if a.saw(uint64(a.lookers)); a.lookers > 0 || a.word == nil {
		return false
	}
	a.word.Add(1)
	return true
}
