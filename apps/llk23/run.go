package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
	"github.com/orwl/go-orwl/orwl/trace"
)

// stall is how long the run may make no progress before the runtime reports which task waits
// for which. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem in a life of the run, with the other nodes if there are any. Then node 0 has the result and what it took,
// and the trace and the film if there are any.
func (f *field) solve(ctx context.Context, rt *orwl.Runtime, m *show.Meter) error {
	f.rt = rt
	begin := time.Now()
	if err := f.trace.begin(f); err != nil {
		return err
	}
	if err := f.declare(ctx); err != nil {
		return err
	}
	f.setup = time.Since(begin)
	if err := f.past.meet(ctx, rt); err != nil {
		return err
	}
	f.begin = time.Now()
	f.figures.show(f)
	_, total := f.cells.Progress()
	stop := m.Watch(f.past.of("sweeping"), total, func() int64 {
		done, _ := f.cells.Progress()
		return done
	})
	err := new(show.Look).Run(ctx, show.Field(f.planes[planeData])) // with ORWL_WATCH, the page shows the matrix
	stop()
	f.past.ended(err)
	if err != nil {
		return err
	}
	f.pace = rt.Inspect().Pace
	all, clocks, err := f.exchange(ctx)
	if err == nil {
		err = f.trace.gather(ctx, f, all[rt.Node()].Took)
	}
	if err == nil && f.film != nil {
		err = f.film.Gather(ctx)
	}
	if err != nil || rt.Node() != 0 {
		return err
	}
	if f.final, err = f.planes[planeData].Values(ctx); err != nil {
		return err
	}
	f.settle(all, clocks)
	return nil
}

// Observe implements orwl.Observer, for the runtime of this life. The nodes have agreed on the placement when the first task
// begins.
func (f *field) Observe(e orwl.Event) {
	f.trace.Observe(e)
	if e.Kind == orwl.Began && f.why != nil {
		f.tells.Do(func() { fmt.Fprint(f.why, f.rt.Placement()) })
	}
}

// verify computes f's problem once more, sequentially and from initial values
// that it makes for itself, and compares every bit. The grid has given up its coefficients, so
// that there are never more than eight matrices.
func verify(ctx context.Context, f *field, m *show.Meter) (took time.Duration, err error) {
	runtime.GC() // otherwise the old coefficients stay until the heap has doubled
	b, err := f.newBlock(ctx, f.whole())
	if err != nil {
		return 0, err
	}
	var swept atomic.Int64
	begin := time.Now()
	stop := m.Watch(f.past.of("verifying"), f.updates(), swept.Load)
	err = f.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, f.result(), b)
}

// past is what a process knows of the lives of the run. A node that has come late learns it from the others.
type past struct {
	Seat  int           // the launcher's number of this node, which stays; in each life the nodes are numbered anew
	Life  int           // the last life that this node was in; 0: none
	Seats []int         // of the nodes of that life
	Lost  bool          // it has ended because of a loss
	Took  time.Duration // from the beginning of the first life to the beginning of this one
	News  []string      // such as "node 1 was lost"
	began time.Time
}

// meet begins a life, when all nodes are ready for it.
func (p *past) meet(ctx context.Context, rt *orwl.Runtime) error {
	if p.began.IsZero() {
		p.began = time.Now()
	} else {
		p.Took = time.Since(p.began)
	}
	all, err := rt.Gather(ctx, "past", pack.Encode(p))
	if err != nil {
		return err
	}
	var seats []int
	known := *p
	for node, text := range all {
		var other past
		if err := pack.Decode(text, &other); err != nil {
			return fmt.Errorf("what node %d knows of the run: %w", node, err)
		}
		seats = append(seats, other.Seat)
		if other.Life > known.Life {
			known = other
		}
	}
	p.News, p.Took = known.News, known.Took
	went := "has left"
	if known.Lost {
		went = "was lost"
	}
	if known.Life > 0 {
		p.tell(known.Seats, seats, went)
		p.tell(seats, known.Seats, "has come")
	}
	p.Life, p.Seats, p.Lost = rt.Life(), seats, true
	return nil
}

// tell tells what has become of those that others do not have.
func (p *past) tell(all, others []int, what string) {
	for _, seat := range all {
		if !slices.Contains(others, seat) {
			p.News = append(p.News, fmt.Sprintf("node %d %s", seat, what))
		}
	}
}

// ended notes how the tasks of a life have ended. If they have not failed because of a loss, the life was to end. If they have not failed
// at all, only a loss ends the life before the run.
func (p *past) ended(err error) {
	var lost *orwl.NodeError
	p.Lost = err == nil || errors.As(err, &lost) && lost.Lost
}

// of names what is done in this life.
func (p *past) of(what string) string {
	if p.Life > 1 {
		return fmt.Sprintf("%s, life %d", what, p.Life)
	}
	return what
}

// statement is what a node has to say of its part in a run. Times are by the node's
// clock, which began with the run.
type statement struct {
	Took     time.Duration
	Shipped  int64                   // bytes of contents that have come from other nodes
	Accounts map[int]stencil.Account // of the node's blocks, by number
}

// statement is this node's, once its blocks are swept.
func (f *field) statement() statement {
	s := statement{Shipped: int64(f.rt.Counts().BytesIn), Accounts: make(map[int]stencil.Account)}
	for n := range f.views {
		if f.here(n) {
			s.Accounts[n] = f.cells.Account(n)
			f.views[n] = block{} // with the coefficients
			s.Took = max(s.Took, s.Accounts[n].Ended)
		}
	}
	return s
}

// exchange brings what each node has to say to all of them, as soon as all have swept their blocks:
// what comes afterwards is no part of what is measured.
func (f *field) exchange(ctx context.Context) (all []statement, clocks []trace.Clock, err error) {
	said, err := f.rt.Gather(ctx, "swept", pack.Encode(f.statement()))
	if err != nil {
		return nil, nil, err
	}
	all = make([]statement, len(said))
	for node := range said {
		if err := pack.Decode(said[node], &all[node]); err != nil {
			return nil, nil, fmt.Errorf("what node %d says of its part: %w", node, err)
		}
	}
	clocks, err = trace.MeetClocks(ctx, f.clock, f.rt)
	return all, clocks, err
}

// settle puts together what all nodes have said: times are by one clock, from when the first node
// has begun until the last has ended.
func (f *field) settle(all []statement, clocks []trace.Clock) {
	first := slices.MinFunc(clocks, func(a, b trace.Clock) int { return cmp.Compare(a.Offset, b.Offset) }).Offset
	for node, s := range all {
		f.took = max(f.took, clocks[node].Offset-first+s.Took)
		f.shipped += s.Shipped
	}
	f.accounts = make([]stencil.Account, len(f.views))
	for _, s := range all {
		for n, a := range s.Accounts {
			a.Spent[stencil.Outside] += f.took - a.Ended
			f.accounts[n] = a
		}
	}
}
