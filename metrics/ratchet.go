package metrics

import (
	"strings"
	"sync"
)

// ratchet keeps counters from going back. A scrape adds up counts that change meanwhile, and
// reads some a moment before others: it may count an access as held and then as released, or
// a wait as begun and not over. So a sum may be one less than the last time, and Prometheus
// would take this for a restart.
type ratchet struct {
	mu   sync.Mutex
	told map[string]float64 // the most that was told, by name and labels
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
