package balance

import "slices"

// Load is what a node has done since the life has begun. Times are in nanoseconds.
type Load struct {
	Units   int   `msgpack:"units"`   // the units that it has, and that have not ended
	Done    int64 `msgpack:"done"`    // how many rounds its units have done, together
	Workers int   `msgpack:"workers"` // how many workers run them
	Busy    int64 `msgpack:"busy"`    // for how long the workers computed, or waited for a processor, together
	Wall    int64 `msgpack:"wall"`    // for how long the workers run
}

// Valid reports whether a node can have done that.
func (l Load) Valid() bool {
	return l.Units >= 0 && l.Done >= 0 && l.Workers >= 0 && l.Busy >= 0 && l.Wall >= 0
}

// since is what the node has done since it had done some of it.
func (l Load) since(before Load) Load {
	return Load{l.Units, l.Done - before.Done, l.Workers, l.Busy - before.Busy, l.Wall - before.Wall}
}

const (
	// leastGain is how much faster another division must make the program, in percent of its speed. So what is left of an imbalance costs less
	// than a tenth.
	leastGain = 110
	// leastWall is how long a window is, in nanoseconds: a shorter one shows what the operating system did.
	leastWall = 200_000_000
	// calm is for how many times the price the division must be good until the price counts half as often.
	calm = 8
	// leastDone is how many rounds of units each worker does in a window, at least. A round that has begun in the window before counts in
	// this one.
	leastDone = 10
	// leastWindows in a row say that another division pays. The first of them may say too little.
	leastWindows = 2
)

// MostTries has the price count 2^10 times at most.
const MostTries = 10

// Watch looks for an imbalance in a life. It is for the chair.
type Watch struct {
	Weights []int // of the nodes of the life
	Price   int64 // the nanoseconds that an end of the life costs
	Tries   int   // how many lives have ended for a balance, less those that have kept it for long

	before  []Load // at the end of the last window
	windows int    // in a row, they say that another division pays
	lost    int64  // the nanoseconds that this division cost in these windows
	good    int64  // the nanoseconds of the windows that say that this division is good
}

// Add takes what the nodes have done until a cut. It returns the weights that the next life has if this one is to end for that. Then it is not
// called any more.
func (w *Watch) Add(all []Load) (weights []int) {
	if w.before == nil {
		w.before = make([]Load, len(all))
	}
	window := make([]Load, len(all))
	for i, l := range all {
		window[i] = l.since(w.before[i])
		if window[i].Wall < leastWall || l.Units > 0 && window[i].Done < int64(leastDone*l.Workers) {
			return nil // the window goes on
		}
	}
	w.before = slices.Clone(all)
	to := weigh(w.Weights, window)
	lost := loses(window, to)
	price := w.Price << w.Tries
	if lost == 0 {
		w.windows, w.lost = 0, 0
		if w.good += window[0].Wall; w.good >= calm*price {
			w.Tries, w.good = max(0, w.Tries-1), 0
		}
		return nil
	}
	w.windows++
	w.lost += lost
	if w.windows < leastWindows || w.lost < price {
		return nil
	}
	w.Tries = min(w.Tries+1, MostTries)
	return to
}

// known reports whether the node shows how fast it is.
func (l Load) known() bool { return l.Done > 0 && l.Busy > 0 }

// speed is how many rounds of units the node does in a nanosecond.
func (l Load) speed() float64 { return float64(l.Done) / float64(l.Busy) * float64(l.Workers) }

// weigh is what the weights of nodes are by what they have done. A node whose speed is not known keeps its weight, beside the mean of the others.
func weigh(weights []int, window []Load) []int {
	sum, of := 0.0, 0 // speeds, and the weights of the nodes that have them
	for i, l := range window {
		if l.known() {
			sum, of = sum+l.speed(), of+weights[i]
		}
	}
	to := slices.Clone(weights)
	for i, l := range window {
		if l.known() {
			to[i] = max(1, int(l.speed()/sum*float64(of)+0.5))
		}
	}
	return to
}

// loses is how much shorter the window would have been with other weights, in nanoseconds. It is 0 if that is too little.
func loses(window []Load, weights []int) int64 {
	units, sum := make([]int, len(window)), 0
	for i, l := range window {
		units[i], sum = l.Units, sum+l.Units
	}
	slowest, now := most(units, weights)
	_, then := most(Shares(sum, weights), weights)
	l := window[slowest]
	busy := min(1, float64(l.Busy)/float64(l.Workers)/float64(l.Wall)) // another division does not shorten what all wait for
	lost := int64(busy * (1 - then/now) * float64(l.Wall))
	if (l.Wall-lost)*leastGain > l.Wall*100 {
		return 0
	}
	return lost
}
