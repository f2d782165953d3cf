package taskbench

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// ORWL runs graphs as tasks of this library, with as many workers as processors.
type ORWL struct {
	Nodes *orwl.Nodes // the processes of the run; nil is this one alone
}

// Close implements System. Nothing is left of a run.
func (o *ORWL) Close() error { return nil }

// Run implements System. On several nodes all call it, and all get the result.
func (o *ORWL) Run(ctx context.Context, graphs []*Schedule) (Result, error) {
	var plans []*plan
	for _, s := range graphs {
		p, err := newPlan(s)
		if err != nil {
			return Result{}, err
		}
		plans = append(plans, p)
	}
	return o.run(ctx, plans)
}

// run runs graphs as their plans say.
func (o *ORWL) run(ctx context.Context, plans []*plan) (Result, error) {
	rt, err := orwl.New(orwl.Options{Nodes: o.Nodes, Stall: time.Minute})
	if err != nil {
		return Result{}, err
	}
	defer rt.Close()
	p := &program{rt: rt, clock: newStopwatch()}
	for _, plan := range plans {
		if err := p.declare(ctx, plan); err != nil {
			return Result{}, err
		}
	}
	if err := rt.Run(ctx); err != nil {
		return Result{}, err
	}
	return p.gather(ctx, o.Nodes)
}

// program is graphs that a runtime runs.
type program struct {
	rt      *orwl.Runtime
	clock   *stopwatch
	runners []*runner
}

// declare declares the resources and the tasks of a graph.
func (p *program) declare(ctx context.Context, s *plan) error {
	g := &graph{program: p, plan: s}
	for c := range s.columns {
		fields := make([]*resource.Resource, s.Fields)
		for f := range fields {
			fields[f] = orwl.Array[Pair](p.rt, fmt.Sprintf("graph %d column %d field %d", s.Number, c, f), s.pairs())
			p.rt.Home(fields[f], g.node(c))
		}
		g.fields = append(g.fields, fields)
		if s.Scratch == 0 {
			continue
		}
		scratch := orwl.Array[byte](p.rt, fmt.Sprintf("graph %d column %d scratch", s.Number, c), s.Scratch)
		p.rt.Home(scratch, g.node(c))
		if err := orwl.Fill(ctx, scratch, prepare); err != nil {
			return err
		}
		g.scratch = append(g.scratch, scratch)
	}
	g.steps()
	return nil
}

// graph is a graph whose tasks are being declared.
type graph struct {
	*program
	*plan
	fields  [][]*resource.Resource // by column and field
	scratch []*resource.Resource   // by column, if it has any
}

// node is the node of a column.
func (g *graph) node(c int) int { return g.Schedule.node(c, g.rt.Nodes()) }

// steps declares a step task for each part of the plan.
func (g *graph) steps() {
	for i := range g.parts {
		part := &g.parts[i]
		t := g.rt.Task(g.name(part)).On(g.node(part.column))
		b := g.body(t, part)
		t.Each(part.rounds, b.round)
	}
}

func (g *graph) name(p *part) string {
	return fmt.Sprintf("graph %d column %d from step %d", g.Number, p.column, p.first)
}

// body is what a part does in its rounds.
type body struct {
	*part
	*runner
	clock   *stopwatch
	output  orwl.Out[Pair]
	inputs  []orwl.In[Pair]
	scratch *orwl.Out[byte]
	begun   bool
}

// body declares the accesses of a part.
func (g *graph) body(t *orwl.Task, p *part) *body {
	b := &body{part: p, runner: &runner{schedule: g.Schedule, column: p.column}, clock: g.clock}
	g.runners = append(g.runners, b.runner)
	b.output = orwl.Writes[Pair](t, g.fields[p.column][g.field(p.first, p.column)])
	for _, d := range p.inputs {
		b.inputs = append(b.inputs, orwl.Reads[Pair](t, g.fields[d][g.field(p.first-1, d)]))
	}
	if g.scratch != nil {
		scratch := orwl.Writes[byte](t, g.scratch[p.column])
		b.scratch = &scratch
	}
	return b
}

// round is the task of a step.
func (b *body) round(round int) error {
	if !b.begun {
		b.begun = true
		b.clock.start()
	}
	step := b.part.step(round)
	for i, in := range b.inputs {
		want := Pair{int64(step - 1), int64(b.part.inputs[i])}
		v := in.View()
		if at := differs(v, want); at >= 0 {
			return b.corrupt(step, i, at, v.At(at), want)
		}
		b.read(want)
	}
	var scratch []byte
	if b.scratch != nil {
		scratch = b.scratch.Slice()
	}
	err := b.finish(step, b.output.Slice(), scratch)
	if round == b.rounds-1 {
		b.clock.stop()
	}
	return err
}

// differs is the first pair that is not the wanted one, or -1.
func differs(v handle.View[Pair], want Pair) int {
	for i := range v.Len() {
		if v.At(i) != want {
			return i
		}
	}
	return -1
}

// gather adds up what the nodes have done.
func (p *program) gather(ctx context.Context, nodes *orwl.Nodes) (Result, error) {
	var own tally
	for _, r := range p.runners {
		own.add(r.tally)
	}
	var text []byte
	for _, v := range []uint64{uint64(p.clock.elapsed()), own.tasks, own.sum} {
		text = binary.BigEndian.AppendUint64(text, v)
	}
	all, err := nodes.Gather(ctx, "taskbench", text)
	if err != nil {
		return Result{}, err
	}
	var sum Result
	for _, text := range all {
		sum.Elapsed = max(sum.Elapsed, time.Duration(binary.BigEndian.Uint64(text)))
		sum.Tasks += int64(binary.BigEndian.Uint64(text[8:]))
		sum.Checksum += binary.BigEndian.Uint64(text[16:])
	}
	return sum, nil
}

// stopwatch runs from the first start to the last stop.
type stopwatch struct {
	zero        time.Time
	first, last atomic.Int64 // ns after zero; 0 is not yet
}

func newStopwatch() *stopwatch { return &stopwatch{zero: time.Now()} }

// start starts the watch, unless it runs.
func (w *stopwatch) start() {
	if w.first.Load() == 0 {
		w.first.CompareAndSwap(0, int64(time.Since(w.zero)))
	}
}

// stop stops the watch, until another stop comes later.
func (w *stopwatch) stop() {
	now := int64(time.Since(w.zero))
	for {
		last := w.last.Load()
		if last >= now || w.last.CompareAndSwap(last, now) {
			return
		}
	}
}

func (w *stopwatch) elapsed() time.Duration { return time.Duration(w.last.Load() - w.first.Load()) }
