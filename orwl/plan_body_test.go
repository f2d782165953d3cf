package orwl

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
)

// errPlanned is the planned failure or panic of a task.
var errPlanned = errors.New("planned")

// body is the body of a plan's task. It notes what it sees, in each round before others
// can see what it has made of it.
func (p *randomProgram) body(task int, seen *[]uint64, between func(), ctx func(*Task) context.Context) func(*Task) error {
	how := p.tasks[task]
	return func(t *Task) error {
		rng := rand.New(rand.NewPCG(p.seed, uint64(task)))
		do := func(round int) { *seen = append(*seen, p.round(t, task, round, between)) }
		if err := how.style.loop(t, how.rounds, rng, do, ctx(t)); err != nil {
			return err
		}
		if how.style == byStep && t.step.round < how.rounds-1 {
			return nil
		}
		switch how.end {
		case fails:
			return errPlanned
		case panics:
			panic(errPlanned)
		case exits:
			runtime.Goexit()
		}
		return nil
	}
}

// loop goes through rounds.
func (s style) loop(t *Task, rounds int, rng *rand.Rand, do func(round int), ctx context.Context) error {
	switch s {
	case byStep:
		do(t.step.round)
	case byRounds:
		for round := range t.Rounds(rounds) {
			do(round)
		}
	case byBreak:
		if rounds == 0 {
			return nil
		}
		for round := range t.Rounds(-1) {
			do(round)
			if round == rounds-1 {
				break
			}
		}
	case byVector:
		all := byOne(t.Accesses())
		for round := range rounds {
			if err := all.Acquire(ctx); err != nil {
				return err
			}
			do(round)
			if err := all.Next(); err != nil {
				return err
			}
		}
	case byHand:
		for round := range rounds {
			for _, i := range rng.Perm(len(t.accesses)) {
				if err := t.accesses[i].Acquire(ctx); err != nil {
					return err
				}
			}
			do(round)
			for _, i := range rng.Perm(len(t.accesses)) {
				release := t.accesses[i].Next
				if round == rounds-1 && rng.IntN(2) == 0 {
					release = t.accesses[i].Release
				}
				if err := release(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// noise varies the schedule: now and then it yields, or takes its time.
func noise(seed uint64) func() {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func() {
		switch n := rng.IntN(16); {
		case n < 3:
			runtime.Gosched()
		case n < 5:
			for range rng.IntN(300) {
				seed = mix(seed)
			}
		}
	}
}
