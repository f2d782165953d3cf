package sim

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
