package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/resource"
)

// program is what the nodes of a world run.
type program interface {
	run(ctx context.Context, rt *orwl.Runtime, p *process) error
	lasts() time.Duration // about so long, if nothing happens
}

var programs = []func(rng *rand.Rand) program{newRing, newGrid, newStages, newAlone}

// computes lets time pass in which a processor is busy.
func (p *process) computes(d time.Duration) {
	<-time.After(d)
	p.ran.Add(int64(d))
}

// works lets the time of a body pass, and has its node leave if a fault asked for that.
func (p *process) works(rt *orwl.Runtime) { p.worksFor(rt, bodyTime) }

func (p *process) worksFor(rt *orwl.Runtime, d time.Duration) {
	p.restoring.Store(false)
	p.computes(d)
	p.runs()
	if p.left.Load() && !p.killed.Load() {
		inner.OfRuntime(rt).Leave()
	}
}

// ring is a program of tasks in a ring. Each mixes its left neighbour's number into its own one, and all of them fold theirs into one. Some end early.
type ring struct {
	rounds []int // by task
}

func newRing(rng *rand.Rand) program {
	r := ring{rounds: make([]int, 2+rng.IntN(6))}
	most := 30 + rng.IntN(100)
	for i := range r.rounds {
		r.rounds[i] = most
		if rng.IntN(3) == 0 {
			r.rounds[i] = 1 + rng.IntN(most)
		}
	}
	return r
}

func (r ring) lasts() time.Duration {
	bodies := 0
	for _, n := range r.rounds {
		bodies += n
	}
	return time.Duration(bodies) * bodyTime
}

func (r ring) mix(task, round int, left, own uint64) uint64 {
	return own*31 + left*7 + uint64(task*1000+round)
}

func (r ring) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	all := orwl.Array[uint64](rt, "all", 1)
	numbers := make([]*resource.Resource, len(r.rounds))
	for i := range numbers {
		numbers[i] = orwl.Array[uint64](rt, fmt.Sprint("number ", i), 1)
	}
	for i, rounds := range r.rounds {
		task := rt.Task(fmt.Sprint("task ", i))
		left := orwl.Reads[uint64](task, numbers[(i+len(numbers)-1)%len(numbers)])
		own, sum := orwl.Writes[uint64](task, numbers[i]), orwl.Writes[uint64](task, all)
		task.Each(slices.Max(r.rounds), func(round int) error {
			p.works(rt)
			own.Slice()[0] = r.mix(i, round, left.View().At(0), own.Slice()[0])
			sum.Slice()[0] = sum.Slice()[0]*3 + own.Slice()[0]
			if round+1 == rounds {
				task.Last()
			}
			return nil
		})
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	got, err := orwl.Values[uint64](ctx, all)
	if err == nil && got[0] != r.want() {
		err = fmt.Errorf("%w: %d instead of %d", errBits, got[0], r.want())
	}
	return err
}

// want is what all have folded in the end.
func (r ring) want() (sum uint64) {
	numbers := make([]uint64, len(r.rounds))
	for round := range slices.Max(r.rounds) {
		for i := range numbers {
			if round < r.rounds[i] {
				numbers[i] = r.mix(i, round, numbers[(i+len(numbers)-1)%len(numbers)], numbers[i])
				sum = sum*3 + numbers[i]
			}
		}
	}
	return sum
}

// alone is a program of tasks that do not wait for each other. So one may be far ahead of another one, and some nodes may have none.
type alone []job

// job is a task. Each body of it takes so long.
type job struct {
	rounds int
	body   time.Duration
}

func newAlone(rng *rand.Rand) program {
	a := make(alone, 1+rng.IntN(4))
	for i := range a {
		a[i] = job{1 + rng.IntN(100), time.Duration(1+rng.IntN(4)) * bodyTime}
	}
	return a
}

func (a alone) lasts() (d time.Duration) {
	for _, j := range a {
		d = max(d, time.Duration(j.rounds)*j.body)
	}
	return d
}

func (a alone) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	return a.runs(ctx, rt, p, 1)
}

// runs is run number run of a program.
func (a alone) runs(ctx context.Context, rt *orwl.Runtime, p *process, run int) error {
	numbers := make([]*resource.Resource, len(a))
	for i, j := range a {
		numbers[i] = orwl.Array[uint64](rt, fmt.Sprint("number ", run, " ", i), 1)
		task := rt.Task(fmt.Sprint("task ", i)).On(i % rt.Nodes())
		own := orwl.Writes[uint64](task, numbers[i])
		task.Each(j.rounds, func(round int) error {
			p.world.isIn(rt, run)
			p.worksFor(rt, j.body)
			own.Slice()[0] = own.Slice()[0]*3 + uint64(round)
			return nil
		})
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	for i, j := range a {
		got, err := orwl.Values[uint64](ctx, numbers[i])
		if err != nil {
			return err
		}
		want := uint64(0)
		for round := range j.rounds {
			want = want*3 + uint64(round)
		}
		if got[0] != want {
			return fmt.Errorf("%w: task %d, %d instead of %d", errBits, i, got[0], want)
		}
	}
	return nil
}

// aloneInTurn is a program of several runs. Some processes may wait behind each.
type aloneInTurn struct {
	all   []alone
	pause func(p *process) time.Duration // nil: none waits
}

func (s aloneInTurn) lasts() (d time.Duration) {
	for _, a := range s.all {
		d += a.lasts()
	}
	return d
}

func (s aloneInTurn) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	p.leave = inner.OfRuntime(rt).Leave
	for i, a := range s.all {
		if err := a.runs(ctx, rt, p, i+1); err != nil {
			return err
		}
		if s.pause != nil {
			<-time.After(s.pause(p))
		}
	}
	return nil
}

// equal are some tasks of so many rounds.
func equal(tasks, rounds int) alone { return slices.Repeat(alone{{rounds, bodyTime}}, tasks) }

// grid is a plate of some blocks, which ends when it changes little.
type grid struct{ side, blocks, sweeps int }

func newGrid(rng *rand.Rand) program {
	return grid{6 + rng.IntN(20), 2 + rng.IntN(2), 50 + rng.IntN(300)}
}

func (g grid) lasts() time.Duration { return time.Duration(g.sweeps) * bodyTime }

func (g grid) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	plate := stencil.New(rt, stencil.Options{Size: stencil.Size{g.side, g.side}, Blocks: stencil.Size{g.blocks, g.blocks}})
	u := stencil.NewField(plate, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 {
		return float64(at[0]*7+at[1]*3) / 16
	}})
	err := plate.Sweep(g.sweeps, func(b *stencil.Block) {
		p.works(rt)
		for r := range b.Rows() {
			to, north, west := u.New(r), u.Old(r, -1, 0), u.Old(r, 0, -1)
			for i, v := range u.Old(r) {
				to[i] = (v + north[i] + west[i]) / 3
			}
		}
	})
	if err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	err = plate.Verify(ctx)
	if err != nil && ctx.Err() == nil { // else the process is killed
		err = fmt.Errorf("%w: %w", errBits, err)
	}
	return err
}

// stages is a program of several runs on the same resources. Each declares its tasks by what the run before has computed, as examples/primes does. A
// task cannot let an array grow, so each run declares a longer one, and reads the array of the run before.
type stages []int // the rounds of the runs

func newStages(rng *rand.Rand) program {
	s := make(stages, 2+rng.IntN(3))
	for i := range s {
		s[i] = 1 + rng.IntN(40)
	}
	return s
}

func (s stages) lasts() time.Duration {
	all := 0
	for _, rounds := range s {
		all += 3 * rounds // about so many tasks
	}
	return time.Duration(all) * bodyTime
}

// tasks is how many tasks a run has, and length how many numbers its own array. sum is what the runs before have computed.
func (s stages) tasks(sum uint64) int          { return 1 + int(sum%5) }
func (s stages) length(i int, sum uint64) int  { return 4*(i+1) + int(sum%3) }
func (s stages) name(i int, sum uint64) string { return fmt.Sprint("numbers ", i, " ", sum%7) }

// turn is what a task does in a round. The run before has the array before, this run has grown, and all runs share sum.
func (s stages) turn(task, round int, before func(int) uint64, n int, grown, sum []uint64) {
	at := (task + round) % len(grown)
	grown[at] = grown[at]*31 + uint64(task*1000+round)
	if n > 0 {
		grown[at] += before((task + 2*round) % n)
	}
	sum[0] = sum[0]*3 + grown[at]
}

func (s stages) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	all := orwl.Array[uint64](rt, "all", 1)
	var before *resource.Resource
	last, sum := 0, uint64(0)
	for i, rounds := range s {
		grown := orwl.Array[uint64](rt, s.name(i, sum), s.length(i, sum))
		for k := range s.tasks(sum) {
			task := rt.Task(fmt.Sprint("task ", k))
			at, n := func(int) uint64 { return 0 }, last
			if before != nil {
				in := orwl.Reads[uint64](task, before)
				at = func(i int) uint64 { return in.View().At(i) }
			}
			own, of := orwl.Writes[uint64](task, grown), orwl.Writes[uint64](task, all)
			task.Each(rounds, func(round int) error {
				p.world.isIn(rt, i+1)
				p.works(rt)
				s.turn(k, round, at, n, own.Slice(), of.Slice())
				return nil
			})
		}
		if err := rt.Run(ctx); err != nil {
			return err
		}
		got, err := orwl.Values[uint64](ctx, all)
		if err != nil {
			return err
		}
		if want := s.want(i); got[0] != want {
			return fmt.Errorf("%w: run %d, %d instead of %d", errBits, i+1, got[0], want)
		}
		before, last, sum = grown, s.length(i, sum), got[0]
	}
	return nil
}

// want is the sum behind a run.
func (s stages) want(run int) uint64 {
	var before []uint64
	sum := []uint64{0}
	for i, rounds := range s[:run+1] {
		grown, tasks := make([]uint64, s.length(i, sum[0])), s.tasks(sum[0])
		for round := range rounds {
			for k := range tasks {
				s.turn(k, round, func(i int) uint64 { return before[i] }, len(before), grown, sum)
			}
		}
		before = grown
	}
	return sum[0]
}
