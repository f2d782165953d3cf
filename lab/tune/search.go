package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// Search looks for good candidates.
type Search struct {
	Locks []lab.Lock
	// Options are given: a lock that heeds one keeps it.
	Options locks.Options
	// Trees are the machines of the workload. The first one gives the ranges of options.
	Trees []*topology.Tree
	// Budget is how many plays there may be.
	Budget int
	Seed   uint64
	// Play plays a candidate for a share of the whole time.
	Play func(ctx context.Context, c Candidate, share float64) (Score, error)
	// Progress, if not nil, is told after each play.
	Progress func(plays int, best Scored)
}

const (
	shortShare = .25 // of the time, while all locks play
	improves   = .01 // a step that gains less is no improvement
	survivors  = 3   // at least, of the first round
)

// Run returns the best candidate of each lock that got into the second round, the best first. When
// ctx ends it returns what there is.
func (s Search) Run(ctx context.Context) ([]Scored, error) {
	r := run{Search: s, ctx: ctx}
	all := r.all()
	field := all[:min(len(all), max(survivors, (len(all)+2)/3))]
	var left []*descent
	for i, c := range field {
		score, err := r.play(c.Candidate, 1)
		if err != nil {
			break
		}
		field[i].Score = score
		left = append(left, &descent{run: &r, best: field[i], step: map[string]int{}})
	}
	found := slices.Clone(left)
	for r.err == nil && len(left) > 0 {
		for i, d := range left {
			d.sweep(rand.New(rand.NewPCG(s.Seed, uint64(i))), (r.Budget-r.plays)/(len(left)-i))
		}
		slices.SortStableFunc(left, compareDescents)
		left = slices.DeleteFunc(left[:(len(left)+1)/2], func(d *descent) bool { return d.settled })
		if r.plays >= r.Budget {
			break
		}
	}
	slices.SortStableFunc(found, compareDescents)
	var best []Scored
	for _, d := range found {
		best = append(best, d.best)
	}
	return best, r.err
}

// run is a search under way.
type run struct {
	Search
	ctx   context.Context
	plays int
	best  Scored
	err   error // ends the search
}

// all plays all locks for a short time, and returns them with the best first.
func (r *run) all() (all []Scored) {
	for _, spec := range r.Locks {
		c := Candidate{spec, lab.Heeded(spec.Spec, r.Options)}
		if !r.fits(c) {
			continue
		}
		score, err := r.play(c, shortShare)
		if err != nil {
			break
		}
		all = append(all, Scored{c, score})
	}
	slices.SortStableFunc(all, compare)
	return all
}

// fits reports whether a candidate is valid on all machines.
func (r *run) fits(c Candidate) bool {
	for _, t := range r.Trees {
		if c.Lock.Validate(t, c.Options) != nil {
			return false
		}
	}
	return true
}

func (r *run) play(c Candidate, share float64) (Score, error) {
	if r.err != nil {
		return Score{}, r.err
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return Score{}, r.err
	}
	score, err := r.Play(r.ctx, c, share)
	if err != nil {
		r.err = fmt.Errorf("%s with %s: %w", c.Lock.Name, c.Literal(), err)
		return score, r.err
	}
	r.plays++
	if share == 1 && (r.best.Lock.Name == "" || score.better(r.best.Score, 0)) {
		r.best = Scored{c, score}
	}
	if r.Progress != nil {
		r.Progress(r.plays, r.best)
	}
	return score, nil
}

// compare orders scores.
func compare(a, b Scored) int {
	switch {
	case a.better(b.Score, 0):
		return -1
	case b.better(a.Score, 0):
		return 1
	}
	return 0
}

func compareDescents(a, b *descent) int { return compare(a.best, b.best) }
