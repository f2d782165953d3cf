package lockstest

import (
	"context"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rmatest"
)

// The lock takes the operations on other ranks' memory that its row says, by
// operations, with the options of the row, on costMachine. A rank is measured that
// keeps nothing for others: its element has another tail rank and another counter,
// and the home is in the other element. Its neighbours are of its own element.
var costCases = []Case{
	{Name: "cost/uncontended", Topology: costMachine, options: costly, act: costUncontended},
	{Name: "cost/reader", Topology: costMachine, needs: readerWriter, options: costly, act: costReader},
	{Name: "cost/contended", Topology: costMachine, options: costly, act: costContended},
}

// costMachine has two levels, two elements, and with them two counters of readers.
const costMachine = "node:2 core:4"

func costly(o *locks.Options) { *o = locks.Options{Operations: true, Home: 7} }

// Who does what: 0 is the element's tail rank.
const (
	costBefore, costMeasured, costBehind = 1, 2, 3
)

// costOf is what was counted of a lock's operations on others' memory.
func costOf(t *rmatest.Tally) locks.Operations {
	c := t.Remote
	return locks.Operations{Atomics: c.FetchOp + c.CAS, Puts: c.Put + c.Accumulate, Gets: c.Get + c.Await}
}

// charge compares what was counted with what the row says.
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

// costWarm lets everybody who takes part have the lock once, so that nodes that
// travel have done so.
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
		p.charge(p.subject.Spec.Cost.Uncontended, "acquire and release by the only one who wants the lock")
	}
}

func costReader(p *player) {
	p.costWarm()
	if p.me == costMeasured {
		p.acquire(read)
		p.release(read)
		p.charge(p.subject.Spec.Cost.Reader, "acquire and release by a reader that nobody keeps out")
	}
}

func costContended(p *player) {
	p.costWarm()
	p.ctx = context.WithoutCancel(p.ctx) // nobody gives up: who might costs another operation here and there
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
		p.charge(p.subject.Spec.Cost.Contended, "acquire and release between two others")
	case costBehind:
		p.hear(measured, 1)
		p.acquireTelling(write, behind)
		p.release(write)
	}
}
