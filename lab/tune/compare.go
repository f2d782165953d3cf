package tune

import (
	"context"

	"github.com/orwl/go-orwl/lab"
)

// Gain is what a candidate makes, beside another one in the same run.
type Gain struct {
	Candidate
	Cost lab.Estimate
	// Gain is the cost of the first candidate divided by this one's, round by round.
	Gain lab.Estimate
	CV   lab.Estimate
	Wait lab.Estimate // the 99th percentile, in nanoseconds
}

// Compare plays the candidates in turn, some rounds long, and compares all with the first one. Each
// round begins with another candidate, and compares only what ran in it, so a machine that gets
// slower in the meantime favours none. When ctx ends it returns what the rounds so far gave.
func Compare(ctx context.Context, candidates []Candidate, rounds int, play func(ctx context.Context, c Candidate, round int) (Score, error)) ([]Gain, error) {
	scores := make([][]Score, len(candidates)) // of whole rounds
	var failure error
	for round := 0; round < rounds && failure == nil; round++ {
		now := make([]Score, len(candidates))
		for i := range candidates {
			at := (i + round) % len(candidates)
			if failure = ctx.Err(); failure == nil {
				now[at], failure = play(ctx, candidates[at], round)
			}
			if failure != nil {
				break
			}
		}
		for i := range candidates {
			if failure == nil {
				scores[i] = append(scores[i], now[i])
			}
		}
	}
	var gains []Gain
	for i, c := range candidates {
		var cost, gain, cv, wait []float64
		for round, s := range scores[i] {
			cost, gain = append(cost, s.Cost), append(gain, scores[0][round].Cost/s.Cost)
			cv, wait = append(cv, s.CV), append(wait, s.Wait)
		}
		gains = append(gains, Gain{c, lab.EstimateOf(cost), lab.EstimateOf(gain), lab.EstimateOf(cv), lab.EstimateOf(wait)})
	}
	return gains, failure
}
