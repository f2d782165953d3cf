package patience

import "time"

const (
	most   = 32   // looks at the word, one or two µs
	least  = 4    // fewer looks are none
	probe  = 32   // waits until a rank that has stopped looking tries again
	rarest = 1024 // waits between two tries at most, since a try costs as much as a wait
)

// Limits are how the ranks of a world look. The zero value is for ranks that are goroutines of one process and
// outnumber its processors.
type Limits struct {
	// Most is how many times a rank looks at the word before it sleeps, at most.
	Most int
	// Probe is how many times a rank looks that has stopped looking and tries again. Where a wake-up takes
	// long, two ranks of a fast exchange sleep for ever unless one of them tries for longer than that.
	Probe int
	// Rarest is how many waits lie between two tries, at most. Each try that fails doubles their number.
	Rarest int
	// Elsewhere says that ranks run in other processes too. Then looking may pay although this process has
	// one processor.
	Elsewhere bool
}

const (
	// woken is how long a wake-up takes: a processor that has nothing to do falls asleep, and needs 5 to 50 µs
	// to wake up.
	woken = 50 * time.Microsecond
	// crowded is how long a process looks where ranks outnumber processors.
	crowded = 10 * time.Microsecond
)

// Goroutines are the limits of ranks that are goroutines of one process. A look takes so long.
//
// Where each rank has a processor, a waiting rank looks for as long as a wake-up takes. The kernel may leave two
// ranks that sleep on one processor for milliseconds, with the other one idle. An interrupt takes less, and
// each processor has some hundreds of them a second. A rank that has stopped looking tries again for as long, or
// ranks that once sleep sleep for ever.
func Goroutines(ranks, processors int, look time.Duration) Limits {
	if ranks > processors {
		return Limits{}
	}
	looks := Looks(woken, look)
	return Limits{Most: looks, Probe: looks}
}

// Processes are the limits of ranks in several processes of one machine. A look takes so long.
//
// A rank whose partner answers at once, from another processor, waits half a microsecond if it looks, and fifty
// if both sleep: to wake a processor that has halted takes that long, twice. So looking pays for up to the time
// of a wake-up. A rank that has stopped looking tries again for as long, or two such ranks never find out. A try
// that fails makes the next one rarer, so that tries cost nothing where looking never pays: two ranks on one
// processor.
//
// Where ranks outnumber processors a rank sleeps earlier: the rank that it waits for may need its processor, and
// no processor has halted. It does not call sched_yield between its looks: it would not give way to a rank of
// another session or container.
func Processes(ranks, processors int, look time.Duration) Limits {
	long := woken
	if ranks > processors {
		long = crowded
	}
	looks := Looks(long, look)
	return Limits{Most: looks, Probe: looks, Elsewhere: true}
}

// Looks is how many looks take about d, if one takes look.
func Looks(d, look time.Duration) int { return max(least, int(d/max(1, look))) }

func (l Limits) withDefaults() Limits {
	if l.Most == 0 {
		l.Most = most
	}
	if l.Probe == 0 {
		l.Probe = least
	}
	if l.Rarest == 0 {
		l.Rarest = rarest
	}
	return l
}

// Rank is one rank's experience with looking.
type Rank struct {
	looks   int32
	slept   int32 // waits since the last try
	between int32 // waits between tries
	trying  bool  // the last wait that looked was a try
	alone   bool  // no other rank can run while this one looks
	limits  Limits
}

// Rank is a rank's experience before its first wait. Its process has so many processors.
func (l Limits) Rank(processors int) Rank {
	l = l.withDefaults()
	return Rank{limits: l, looks: int32(l.Most), between: probe, alone: processors == 1 && !l.Elsewhere}
}

// Alone reports whether no other rank can run while this one looks.
func (r *Rank) Alone() bool { return r.alone }

// Begin is how many times the next wait looks before it sleeps.
func (r *Rank) Begin() int32 {
	if r.alone {
		return 0
	}
	if r.looks < least {
		if r.slept++; r.slept < r.between {
			return 0
		}
		r.slept, r.looks, r.trying = 0, int32(r.limits.Probe), true
	}
	return r.looks
}

// Paid remembers that the wait ended while the rank looked.
func (r *Rank) Paid() {
	r.looks = min(2*r.looks, int32(r.limits.Most))
	r.between, r.trying = probe, false
}

// Wasted remembers that it did not.
func (r *Rank) Wasted() {
	if r.looks /= 2; r.trying {
		r.looks, r.trying = 0, false
		r.between = min(2*r.between, int32(r.limits.Rarest))
	}
}

// Look makes the next wait look for as long as it may.
func (r *Rank) Look() { r.looks = int32(r.limits.Most) }
