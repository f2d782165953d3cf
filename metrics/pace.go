package metrics

// pace is how often something is timed. To read a clock twice and store the result takes
// about as long as half a hand-over between two goroutines that do nothing else. So each
// timing computes from the time since the last one how many to skip: slow accesses are timed
// each time, and the quicker they are, the fewer. Counts are always exact.
type pace struct {
	left  int32  // accesses until the next one that is timed
	noise uint32 // random, to stay out of step with a program that has a rhythm
	last  int64  // when the last timed access was
}

// due reports whether to time this one.
func (p *pace) due() bool {
	p.left--
	return p.left <= 0
}

// How many nanoseconds go by for each that is timed, at least, for each place of the
// process: about 2 % of them are spent on either.
const (
	spendingOnWaits    = 20_000
	spendingOnAccesses = 150_000
)

// next begins to count anew: so many have gone by since the last one, now included.
func (p *pace) next(now int64, gone uint64, spending int64, most int32) {
	each := max(1, (now-p.last)/int64(max(1, gone)))
	span := int32(min(int64(most), (spending+each-1)/each))
	p.left = span
	if p.last == 0 {
		p.left = 1 // how long it takes is not known yet
	} else if span > 2 {
		p.noise = p.noise*1664525 + 1013904223
		p.left += int32(p.noise>>16)%span - span/2
	}
	p.last = now
}
