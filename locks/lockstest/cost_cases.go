package lockstest

import (
	"context"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rmatest"
)

// The lock performs as many operations on other ranks' memory as its row says. The
// lock uses operations, not direct access, with the options of the row, on
// costMachine. The measured rank keeps no words for other ranks: its element has
// another tail rank and another counter, and the home is in the other element. Its
// neighbours are in its own element.
var costCases = []Case{
	{Name: "cost/uncontended", Topology: costMachine, options: costly, act: costUncontended},
	{Name: "cost/reader", Topology: costMachine, needs: readerWriter, options: costly, act: costReader},
	{Name: "cost/contended", Topology: costMachine, options: costly, act: costContended},
}

// costMachine has two levels and two elements, and so two counters of readers.
const costMachine = "node:2 core:4"

func costly(o *locks.Options) { *o = locks.Options{Operations: true, Home: 7} }

// The part of each rank. Rank 0 is the element's tail rank.
const (
	costBefore, costMeasured, costBehind = 1, 2, 3
)

// costOf is the number of a lock's operations on other ranks' memory.
func costOf(t *rmatest.Tally) locks.Operations {
	c := t.Remote
	return locks.Operations{Atomics: c.FetchOp + c.CAS, Puts: c.Put + c.Accumulate, Gets: c.Get + c.Await}
}

// charge compares the counted operations with the row.
func (p *player) charge(want locks.Operations, what string) {
	got := costOf(p.scout.tally)
	within := got == want
	if want.Unbounded {
		within = got.Atomics >= want.Atomics && got.Puts >= want.Puts && got.Gets >= want.Gets
	}
	if !within {
		p.fail("%s took %v on other ranks' memory (%v), but the table says %v", what, got, p.scout.tally.Remote, want)
	}
}

// costWarm lets each rank that takes part have the lock once. Afterwards queue nodes
// that travel between ranks have travelled.
func (p *player) costWarm() {
	const turn = 7
	p.hear(turn, int(p.me))
	if p.me >= costBefore && p.me <= costBehind {
		p.acquire(write)
		p.release(write)
	}
	p.tell(turn)
	p.hear(turn, p.ranks)
	p.scout.tally.Reset()
}

func costUncontended(p *player) {
	p.costWarm()
	if p.me == costMeasured {
		p.acquire(write)
		p.release(write)
		p.charge(p.subject.Spec.Cost.Uncontended, "acquire and release by the only rank that wants the lock")
	}
}

func costReader(p *player) {
	p.costWarm()
	if p.me == costMeasured {
		p.acquire(read)
		p.release(read)
		p.charge(p.subject.Spec.Cost.Reader, "acquire and release by a reader that no writer blocks")
	}
}

func costContended(p *player) {
	p.costWarm()
	p.ctx = context.WithoutCancel(p.ctx) // no rank gives up: a rank that might costs a few more operations
	const held, measured, behind = 0, 1, 2
	switch p.me {
	case costBefore:
		p.acquire(write)
		p.tell(held)
		p.hear(behind, 1)
		p.release(write)
	case costMeasured:
		p.hear(held, 1)
		p.acquireTelling(write, measured)
		p.release(write)
		p.charge(p.subject.Spec.Cost.Contended, "acquire and release between two other ranks")
	case costBehind:
		p.hear(measured, 1)
		p.acquireTelling(write, behind)
		p.release(write)
	}
}
