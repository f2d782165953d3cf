package sim

import "math/rand/v2"

// Seed runs the system once under the schedule that seed draws.
func (s System) Seed(seed uint64) Report { return s.Seeds(seed, 1) }

// Seeds runs the system n times, under the schedules that n seeds draw, beginning
// with the seed first. It stops at the first failure.
func (s System) Seeds(first uint64, n int) Report {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return Report{Failure: &Failure{Err: err}}
	}
	s.crew = new(crew)
	defer s.crew.end()
	var report Report
	for seed := first; report.Runs < n; seed++ {
		x, err := s.seeded(seed, false)
		report.Runs++
		report.Steps += x.steps
		if err != nil {
			report.Failure = s.failure(err, "-seed", formatSeed(seed), func() *explorer {
				again, _ := s.seeded(seed, true)
				return again
			})
			report.Failure.Seed = seed
			return report
		}
		if s.stopped(report) {
			report.Complete = report.Runs == n
			return report
		}
	}
	report.Complete = true
	return report
}

// seeded runs the system once. Everything random in the run comes from the seed.
func (s System) seeded(seed uint64, traced bool) (*explorer, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var p policy
	if rng.IntN(2) == 0 {
		p = newRandom(rng)
	} else {
		p = newPriorities(rng, s.Topology.Ranks())
	}
	return explore(s, p, drawFaults(s.Faults, s.Topology.Ranks(), rng), traced)
}

// random is a policy that draws each choice. It draws the weights of arrivals and
// of notices against steps once for each run. So everything is late in some runs,
// and nothing is late in others.
type random struct {
	rng    *rand.Rand
	weight [chooseSplit + 1]float64
}

func newRandom(rng *rand.Rand) *random {
	p := &random{rng: rng}
	eagerness := []float64{1.0 / 64, 1.0 / 8, 1, 8}
	p.weight[chooseStep] = 1
	p.weight[chooseArrival] = eagerness[rng.IntN(len(eagerness))]
	p.weight[chooseNotice] = eagerness[rng.IntN(len(eagerness))] / 8
	return p
}

func (p *random) choose(_ *explorer, choices []choice) int {
	total := 0.0
	for _, c := range choices {
		total += p.weight[c.kind]
	}
	at := p.rng.Float64() * total
	for i, c := range choices {
		if at -= p.weight[c.kind]; at < 0 {
			return i
		}
	}
	return len(choices) - 1
}

// priorities is a policy that picks the rank or arrival of the highest priority. At
// a few random steps it demotes the favourite. If a bug needs d steps in a certain
// order, the probability to find it falls only with the number of steps to the power
// of d-1 (Burckhardt et al., probabilistic concurrency testing). A rank that takes
// longestStreak steps in a row is demoted, too: it might wait in a loop for ever.
type priorities struct {
	rng     *rand.Rand
	ranks   []uint64
	changes []int // steps at which the current favourite falls to the bottom
	bottom  uint64
	last    *rank
	streak  int
}

const longestStreak = 64

func newPriorities(rng *rand.Rand, ranks int) *priorities {
	p := &priorities{rng: rng, ranks: make([]uint64, ranks), bottom: 1 << 32}
	for i := range p.ranks {
		p.ranks[i] = p.draw()
	}
	horizon := 1 << (4 + rng.IntN(8))
	for range rng.IntN(6) {
		p.changes = append(p.changes, rng.IntN(horizon))
	}
	return p
}

// draw draws a priority above every demoted rank.
func (p *priorities) draw() uint64 { return p.rng.Uint64() | 1<<63 }

func (p *priorities) choose(x *explorer, choices []choice) int {
	best, of := 0, uint64(0)
	for i, c := range choices {
		priority := p.ranks[c.rank.id]
		if c.kind == chooseArrival {
			priority = c.flight.priority
		}
		if priority > of {
			best, of = i, priority
		}
	}
	p.demote(x, choices[best])
	return best
}

// demote gives the favourite the lowest priority if a change is due.
func (p *priorities) demote(x *explorer, favourite choice) {
	due := false
	for _, at := range p.changes {
		due = due || at == x.steps
	}
	if favourite.kind == chooseArrival {
		return
	}
	if p.last != favourite.rank {
		p.last, p.streak = favourite.rank, 0
	}
	if p.streak++; due || p.streak > longestStreak {
		p.bottom--
		p.ranks[favourite.rank.id], p.streak = p.bottom, 0
	}
}
