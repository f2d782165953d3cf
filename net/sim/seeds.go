package sim

import "math/rand/v2"

// Seed runs the system once under the schedule that seed draws.
func (s System) Seed(seed uint64) Report { return s.Seeds(seed, 1) }

// Seeds runs the system n times, under the schedules that the seeds from first
// on draw, up to the first failure.
func (s System) Seeds(first uint64, n int) Report {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return Report{Failure: &Failure{Err: err}}
	}
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
	}
	report.Complete = true
	return report
}

// seeded is one run. Everything random in it comes from the seed.
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
