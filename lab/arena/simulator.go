package arena

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/memory"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
)

// playSimulator plays a case in virtual time: each repeat from another seed.
func playSimulator(ctx context.Context, c lab.Case, o Options) (samples []lab.Sample, err error) {
	tree, words, witness, err := sizes(c, *o.Contender)
	if err != nil {
		return nil, err
	}
	if room, known := memory.Free(); known {
		if err := fits(tree.Ranks(), words, room); err != nil {
			return nil, err
		}
	}
	for repeat := range c.Repeats {
		if err := ctx.Err(); err != nil {
			return samples, err
		}
		system := sim.System{Topology: tree, Words: words, Setup: func(f *sim.Fabric) (sim.Program, error) {
			program, err := c.Setup(f, *o.Contender, lab.NewWitness(make([]uint64, witness)))
			return sim.Program{Rank: func(virtual context.Context, w rma.Window) error {
				sample, err := program.Play(interruptible{virtual, ctx}, w, clockOf(w.(*sim.Window), o.Machine), repeat, nil)
				if err != nil {
					return err
				}
				samples = append(samples, sample)
				if o.Sampled != nil {
					o.Sampled(sample)
				}
				return nil
			}}, err
		}}
		if p := system.Predict(o.Machine, c.Seed+uint64(repeat)); ctx.Err() != nil {
			return samples, ctx.Err()
		} else if p.Failure != nil {
			return samples, p.Failure
		}
	}
	return samples, nil
}

// The memory of a play: a word and its part of a simulated cache line, and a rank with its stack and its histograms.
const (
	wordBytes = 13
	rankBytes = 32 << 10
)

// fits refuses a play that takes more memory than is free. Go would end the program.
func fits(ranks, words int, free memory.Room) error {
	needed := int64(ranks) * (int64(words)*wordBytes + rankBytes)
	if needed <= free.Bytes {
		return nil
	}
	return fmt.Errorf("arena: %d ranks with %d words each take %.1f GB of memory, and %s has %.1f GB free: play fewer ranks",
		ranks, words, float64(needed)/1e9, free.Of, float64(free.Bytes)/1e9)
}

// interruptible is a context of virtual time that also ends with one of real time, so that Ctrl-C does not
// wait for a run of minutes: the next acquire of any rank fails.
type interruptible struct {
	context.Context
	real context.Context
}

func (i interruptible) Err() error {
	if err := i.real.Err(); err != nil {
		return err
	}
	return i.Context.Err()
}

// clockOf is a rank's clock in virtual time.
func clockOf(w *sim.Window, machine model.Model) lab.Clock {
	if machine.Own == nil {
		return w
	}
	return &pacer{Window: w, turn: int64(machine.Own.Turn * 1000), clock: int64(machine.Own.Clock * 1000)}
}

// pacer lets a turn of a benchmark's loop take time, and each reading of the clock: whole nanoseconds, so the
// rest waits for the next one.
type pacer struct {
	*sim.Window
	turn, clock, rest int64 // picoseconds
}

// Turn implements lab.Pacer.
func (p *pacer) Turn() { p.takes(p.turn) }

// Now implements lab.Clock.
func (p *pacer) Now() time.Duration {
	p.takes(p.clock)
	return p.Window.Now()
}

func (p *pacer) takes(ps int64) {
	p.rest += ps
	p.Compute(time.Duration(p.rest / 1000))
	p.rest %= 1000
}
