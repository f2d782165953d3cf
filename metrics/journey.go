package metrics

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
)

// journey follows the requests of a place whose resource has its home on another node.
// The bytes travel while the task works on something else, or waits. Every journey is
// timed: a message takes far longer than that.
//
//	announced ───────── asks ───────── granted ──▶ acquired
//	   └──── hidden ─────┘└──── waits ────┘└ remote ┘
type journey struct {
	announced int64
	granted   atomic.Int64 // set by the goroutine that receives the grant
	before    int          // bytes that were here when Acquire was called

	accesses, hits, inTime, late tally.Count
	hidden                       tally.Count // nanoseconds
}

// asks notes how many bytes are here when the place begins to wait.
func (j *journey) asks(p *queue.Place) { _, j.before = p.Here() }

// ends ends a journey: the place of w has acquired.
func (j *journey) ends(w *watch, p *queue.Place) {
	_, came := p.Here()
	granted := j.granted.Load()
	asked := granted
	j.accesses.Inc()
	if since := int64(w.since.Own()); since != 0 {
		asked = min(since, granted)
		w.m.remote.observe(w.m.now()-granted, 1)
		j.late.Add(uint64(came - j.before))
		j.inTime.Add(uint64(j.before))
	} else {
		j.hits.Inc()
		j.inTime.Add(uint64(came))
	}
	if asked > j.announced {
		j.hidden.Add(uint64(asked - j.announced))
	}
}
