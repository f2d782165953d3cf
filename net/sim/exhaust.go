package sim

import "fmt"

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
