package metrics

import (
	"strings"
	"sync"
)

// ratchet keeps what is told from going back. Who scrapes adds up what goes on meanwhile,
// and sees this a moment before that: an access that is held now and released then, a wait
// that has begun and is not over. So there may be one fewer than the last time, and
// Prometheus would take that for a new beginning.
type ratchet struct {
	mu   sync.Mutex
	told map[string]float64 // the most, by name and labels
}

// most is v, or what was told before if that is more.
func (r *ratchet) most(v float64, name string, labels []string) float64 {
	key := name + "\x00" + strings.Join(labels, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.told[key]; before >= v {
		return before
	}
	if r.told == nil {
		r.told = make(map[string]float64)
	}
	r.told[key] = v
	return v
}
