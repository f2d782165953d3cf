package sim

import (
	"fmt"
	"math/rand/v2"
)

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

// Limit bounds an exhaustive search. A zero field is no limit.
type Limit struct {
	States int // distinct states
	Runs   int // schedules
}

// Exhaust visits every state that the system can reach. It stops at the first
// failure. Report.Complete tells whether it visited all of them.
func (s System) Exhaust(limit Limit) Report {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return Report{Failure: &Failure{Err: err}}
	}
	s.crew = new(crew)
	defer s.crew.end()
	search := search{visited: make(map[uint64]struct{})}
	var report Report
	for {
		search.depth = 0
		x, err := explore(s, &search, choosableFaults(s.Faults), false)
		report.Runs++
		report.Steps += x.steps
		report.States = len(search.visited)
		if err != nil {
			schedule := x.schedule
			report.Failure = s.failure(err, "-schedule", formatSchedule(schedule), func() *explorer {
				again, _ := explore(s, &replay{schedule}, choosableFaults(s.Faults), true)
				return again
			})
			return report
		}
		if !search.next() {
			report.Complete = true
			return report
		}
		if limit.Runs > 0 && report.Runs >= limit.Runs || limit.States > 0 && report.States >= limit.States || s.stopped(report) {
			return report
		}
	}
}

// Replay runs a system once under a schedule that Exhaust printed.
func (s System) Replay(schedule string) (Report, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return Report{}, err
	}
	choices, err := parseSchedule(schedule)
	if err != nil {
		return Report{}, fmt.Errorf("sim: schedule: %w", err)
	}
	x, err := explore(s, &replay{choices}, choosableFaults(s.Faults), true)
	report := Report{Runs: 1, Steps: x.steps, Complete: true}
	if err != nil {
		report.Failure = s.failure(err, "-schedule", schedule, func() *explorer { return x })
	}
	return report, nil
}

// replay repeats a recorded schedule.
type replay struct{ schedule []uint16 }

func (p *replay) choose(_ *explorer, choices []choice) int {
	if len(p.schedule) == 0 {
		return 0
	}
	at := int(p.schedule[0])
	p.schedule = p.schedule[1:]
	return min(at, len(choices)-1)
}

// search is the policy of a depth-first search by replay. A run repeats the path
// up to the branch that next advanced. Then it takes first choices until it meets
// a visited state.
type search struct {
	path    []branch
	depth   int
	visited map[uint64]struct{}
}

type branch struct {
	taken uint16
	width uint16
}

func (s *search) choose(x *explorer, choices []choice) int {
	if s.depth == len(s.path) {
		state := x.state()
		if _, seen := s.visited[state]; seen {
			return -1
		}
		s.visited[state] = struct{}{}
		s.path = append(s.path, branch{0, uint16(len(choices))})
	}
	at := s.path[s.depth].taken
	s.depth++
	return int(at)
}

// next advances the deepest branch that has choices left. It reports whether there
// is such a branch.
func (s *search) next() bool {
	for n := len(s.path) - 1; n >= 0; n-- {
		if b := &s.path[n]; b.taken+1 < b.width {
			b.taken++
			s.path = s.path[:n+1]
			return true
		}
	}
	return false
}

// state is a fingerprint of the state that the run is in.
func (x *explorer) state() uint64 {
	print := x.memory.fingerprint()
	for _, f := range x.flights {
		print += f.fingerprint(f.origin.id)
	}
	for _, r := range x.faults.alone {
		print += mix(uint64(r) + 1<<40)
	}
	for _, r := range x.ranks {
		own := mix(r.history ^ uint64(r.id)<<32 ^ uint64(r.phase)<<8)
		if r.phase == blocked && r.request.kind == opPause && r.seen != x.memory.version {
			own++
		}
		if r.window.err != nil {
			own = mix(own + 2)
		}
		if r.ctx.Err() != nil {
			own = mix(own + 3)
		}
		if x.shared && r.phase == blocked && r.request.kind == opAwait && r.woken {
			own = mix(own + 4)
		}
		print += mix(own)
	}
	if x.program.State != nil {
		print = mix(print ^ x.program.State())
	}
	return print
}
