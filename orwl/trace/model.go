package trace

import "time"

// Trace is what the tasks of all nodes did, by one clock.
type Trace struct {
	Clocks   []Clock       // of the nodes
	Tracks   []Track       // of the tasks, node by node
	From, To time.Duration // of the run
}

// Clock says how a node's times became times of node 0.
type Clock struct {
	Node int
	// Offset was added to the node's times. Shared says that node 0 has the same clock.
	// Otherwise Offset is wrong by at most Error: see the package's description.
	Offset, Error time.Duration
	Shared        bool
}

// Track is what a task did.
type Track struct {
	Task     string
	Node     int
	Began    time.Duration // -1 if it has not
	Ended    time.Duration // -1 if it has not
	Accesses []Access      // in the order of their declarations
	// Slices are what it did, in order, without waits. A wait is in the turn that it was
	// for.
	Slices []Slice
	Turns  []Turn // in the order in which they ended
	// Handling is the time of the shortest slices without a name. Slices leaves them out.
	Handling time.Duration
	Rest     Rest
}

// Access is what a task does with a resource, turn by turn.
type Access struct {
	Resource string
	Write    bool
}

// Slice is what a task did for a while.
type Slice struct {
	Name     string
	From, To time.Duration
}

// Turn is one use of an access. A time that has not come is -1.
type Turn struct {
	Access    int
	Requested time.Duration
	Here      time.Duration // when its bytes had come from another node
	Asked     time.Duration // when its task began to wait
	Acquired  time.Duration // -1 if it was cancelled
	Released  time.Duration // or cancelled
	Fence     uint64
	Version   uint64
	Bytes     int // the bytes that came from another node
}

// Rest is what a track has no room for.
type Rest struct {
	Slices, Turns int
	From, To      time.Duration
	Sums          map[string]time.Duration // by the names of slices
}

// delay moves everything to a time that much later.
func (k *Track) delay(by time.Duration) {
	later := func(all ...*time.Duration) {
		for _, at := range all {
			if *at != none {
				*at += by
			}
		}
	}
	later(&k.Began, &k.Ended, &k.Rest.From, &k.Rest.To)
	for i := range k.Slices {
		later(&k.Slices[i].From, &k.Slices[i].To)
	}
	for i := range k.Turns {
		u := &k.Turns[i]
		later(&u.Requested, &u.Here, &u.Asked, &u.Acquired, &u.Released)
	}
}

// Waited is for how long its task waited, and from when.
func (u *Turn) Waited() (from, to time.Duration, waited bool) {
	switch {
	case u.Asked == none:
		return 0, 0, false
	case u.Acquired == none:
		return u.Asked, u.Released, true
	}
	return u.Asked, u.Acquired, true
}

// Sums is for how long the task did what, by the names of slices.
func (k *Track) Sums() map[string]time.Duration {
	sums := make(map[string]time.Duration)
	for _, s := range k.Slices {
		sums[s.Name] += s.To - s.From
	}
	for i := range k.Turns {
		if from, to, waited := k.Turns[i].Waited(); waited {
			sums[Wait] += to - from
		}
	}
	for name, sum := range k.Rest.Sums {
		sums[name] += sum
	}
	return sums
}

// span is from when to when tracks have anything.
func (t *Trace) span() (from, to time.Duration) {
	first := true
	see := func(at time.Duration) {
		if at == none {
			return
		}
		if first {
			from, to, first = at, at, false
		}
		from, to = min(from, at), max(to, at)
	}
	for i := range t.Tracks {
		k := &t.Tracks[i]
		see(k.Began)
		see(k.Ended)
		for _, s := range k.Slices {
			see(s.From)
			see(s.To)
		}
		for _, u := range k.Turns {
			see(u.Released)
		}
		if k.Rest.Slices > 0 {
			see(k.Rest.To)
		}
	}
	return from, to
}
