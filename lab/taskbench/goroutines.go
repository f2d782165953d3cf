package taskbench

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
)

// goroutines declares a task with a goroutine for each column. The first step of a column is a
// task of its own, as in the plan. The phases are one task: its round is a sequence that
// acquires and releases the accesses of one phase after another. The first requests of a phase
// come after those of all phases before it, so the order is that of the plan.
func (g *graph) goroutines() {
	phases := make([][]*part, g.Width)
	for i := range g.parts {
		part := &g.parts[i]
		if part.every > 1 {
			phases[part.column] = append(phases[part.column], part)
			continue
		}
		t := g.rt.Task(g.name(part)).On(g.node(part.column))
		b := g.body(t, part)
		t.Do(func(t *orwl.Task) error {
			for round := range t.Rounds(1) {
				if err := b.round(round); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for c, parts := range phases {
		if len(parts) > 0 {
			g.goroutine(c, parts)
		}
	}
}

// goroutine declares the task of a column.
func (g *graph) goroutine(c int, parts []*part) {
	t := g.rt.Task(fmt.Sprintf("graph %d column %d", g.Number, c)).On(g.node(c))
	var (
		bodies   []*body
		accesses [][]*orwl.Access
		sequence []orwl.Step
	)
	for phase, part := range parts {
		b := g.body(t, part)
		all := b.accesses()
		for _, a := range all {
			a.Priority(1 + phase)
		}
		bodies, accesses = append(bodies, b), append(accesses, all)
		sequence = append(sequence, orwl.Acquire(all...), orwl.Release(all...))
	}
	t.Sequence(sequence...)
	t.Do(func(t *orwl.Task) error {
		for round := 0; ; round++ {
			for phase, b := range bodies {
				if round == b.rounds {
					return nil
				}
				if err := turn(t.Context(), b, accesses[phase], round); err != nil {
					return err
				}
			}
			t.EndRound()
		}
	})
}

// turn is one step of a column: a round of one phase.
func turn(ctx context.Context, b *body, accesses []*orwl.Access, round int) error {
	for _, a := range accesses {
		if err := a.Acquire(ctx); err != nil {
			return err
		}
	}
	if err := b.round(round); err != nil {
		return err
	}
	for _, a := range accesses {
		leave := a.Next
		if round == b.rounds-1 {
			leave = a.Release
		}
		if err := leave(); err != nil {
			return err
		}
	}
	return nil
}
