package lab

import "time"

// Clock is the time of a rank: the machine's, or the simulator's.
type Clock interface {
	// Now is the time since a moment that is the same for all calls.
	Now() time.Duration
	// Compute lets d pass while the rank computes and waits for no other rank.
	Compute(d time.Duration)
}

// Pacer is a clock on which the loop of a benchmark takes no time by itself: the simulator's.
type Pacer interface {
	Clock
	// Turn lets the time of one turn of the loop pass.
	Turn()
}

// random is a generator of numbers (splitmix64). Each rank has its own.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// from draws a number of a range.
func (r *random) from(of Range) int64 {
	if of.Most <= of.Least {
		return of.Least
	}
	return of.Least + int64(r.next()%uint64(of.Most-of.Least+1))
}
