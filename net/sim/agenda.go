package sim

// event is something that happens at a time.
type event struct {
	at     int64
	seq    uint64 // breaks ties: first come, first served
	kind   eventKind
	rank   *rank
	flight *timedFlight
}

type eventKind uint8

const (
	eventArrival eventKind = iota // a rank's request reaches its target
	eventResume                   // a rank goes on with its answer
	eventLook                     // a rank looks at the word that it awaits
	eventLanding                  // an operation that nobody waits for arrives
	eventFault                    // a fault begins
)

// agenda is the events to come, a heap of four children per node: events are
// small and most are pushed near the bottom.
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

// sink puts e where the root was.
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

// next is the time of the next event; the end of time if there is none.
func (a *agenda) next() int64 {
	if len(a.events) == 0 {
		return 1<<63 - 1
	}
	return a.events[0].at
}
