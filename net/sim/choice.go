package sim

import "github.com/orwl/go-orwl/net/rma"

// choice is an event that can happen next.
type choice struct {
	kind   choiceKind
	rank   *rank    // the rank that steps, notices, crashes, is cancelled or cut off; the origin of a flight
	flight *flight  // the operation that arrives
	lost   rma.Rank // the rank that is lost, in a notice
}

type choiceKind uint8

const (
	chooseStep choiceKind = iota
	chooseArrival
	chooseNotice // a rank learns that a peer is lost
	chooseCrash
	chooseCancel
	chooseSplit
)

// enabled lists what can happen now. The order is the same in every run.
func (x *explorer) enabled() []choice {
	x.choices = x.choices[:0]
	x.held = false
	for _, r := range x.ranks {
		if r.phase != blocked {
			continue
		}
		switch {
		case x.faults.paused(x, r):
			x.held = true
		case r.window.err == nil && r.request.remote() && x.faults.unreachable(x, r.id, r.request.target):
			x.held = x.held || !x.faults.split(r.id, r.request.target)
		case x.ready(r):
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	for _, f := range x.flights {
		if x.faults.delayed(x, f) {
			x.held = true
			continue
		}
		if x.faults.unreachable(x, f.origin.id, f.target) {
			x.held = x.held || !x.faults.split(f.origin.id, f.target)
			continue
		}
		x.choices = append(x.choices, choice{kind: chooseArrival, rank: f.origin, flight: f})
	}
	x.faults.offer(x)
	if len(x.choices) == 0 {
		return x.fallback()
	}
	return x.choices
}

// fallback finds choices when nothing is enabled. It ends the faults that hold
// something back, or lets a pausing rank look again although nothing has changed.
func (x *explorer) fallback() []choice {
	if x.held {
		x.faults.lift(x)
		return x.enabled()
	}
	if x.rechecks++; x.memory.version != x.recheckVersion {
		x.rechecks, x.recheckVersion = 0, x.memory.version
	}
	for _, r := range x.ranks {
		if r.phase == blocked && r.request.kind == opPause {
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	return x.choices
}

// ready reports whether a blocked rank can take a step.
func (x *explorer) ready(r *rank) bool {
	q := &r.request
	switch {
	case r.window.err != nil:
		return true
	case q.kind == opAwait:
		return q.ended() != nil || q.until.Holds(x.memory.load(q.target, q.disp))
	case q.kind == opPause:
		return r.seen != x.memory.version
	case q.kind == opFlush || q.kind == opFlushAll:
		return false // arrive resumes the rank after its last arrival
	}
	return true
}

// stranded reports whether the contract promises none of the choices. Two kinds of
// choice come without a promise: an operation may arrive although no rank flushes
// it, and a rank may go on although no rank woke it. If only such choices are left,
// ranks that wait may wait for ever.
func (x *explorer) stranded(choices []choice) bool {
	for _, c := range choices {
		unflushed := c.kind == chooseArrival && !c.rank.flushes(c.flight.target)
		if !unflushed && !(c.kind == chooseStep && x.unwoken(c.rank)) {
			return false
		}
	}
	for _, r := range x.ranks {
		if r.phase == blocked {
			return !x.held
		}
	}
	return false
}

// event is something that happens at a point in virtual time.
type event struct {
	at     int64
	seq    uint64 // breaks ties: the event that was pushed first comes first
	kind   eventKind
	rank   *rank
	flight *timedFlight
	wait   uint // of eventDoze
}

type eventKind uint8

const (
	eventArrival   eventKind = iota // a rank's request reaches its target
	eventResume                     // a rank goes on with its answer
	eventLook                       // a rank looks at the word that it awaits
	eventLanding                    // an operation arrives that its rank does not wait for
	eventFault                      // a fault begins
	eventDoze                       // a rank has looked at its word for long enough
	eventDeparture                  // a rank's request is at the port of its node
	eventTakeoff                    // an operation is there that its rank does not wait for
)

// agenda holds the events to come. It is a heap with four children per node,
// because events are small and most of them are pushed near the bottom.
type agenda struct {
	events []event
	pushed uint64
}

func (a *agenda) before(e, f *event) bool {
	return e.at < f.at || e.at == f.at && e.seq < f.seq
}

func (a *agenda) push(e event) {
	a.pushed++
	e.seq = a.pushed
	a.events = append(a.events, e)
	i := len(a.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !a.before(&e, &a.events[parent]) {
			break
		}
		a.events[i] = a.events[parent]
		i = parent
	}
	a.events[i] = e
}

func (a *agenda) pop() event {
	first := a.events[0]
	last := len(a.events) - 1
	e := a.events[last]
	a.events[last] = event{}
	a.events = a.events[:last]
	if last > 0 {
		a.sink(e)
	}
	return first
}

// sink puts e at the root and moves it down to its place.
func (a *agenda) sink(e event) {
	n, i := len(a.events), 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		child := first
		for other := first + 1; other < min(first+4, n); other++ {
			if a.before(&a.events[other], &a.events[child]) {
				child = other
			}
		}
		if !a.before(&a.events[child], &e) {
			break
		}
		a.events[i] = a.events[child]
		i = child
	}
	a.events[i] = e
}

// next is the time of the next event, or the largest time if there is none.
func (a *agenda) next() int64 {
	if len(a.events) == 0 {
		return 1<<63 - 1
	}
	return a.events[0].at
}
