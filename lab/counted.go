package lab

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// countedTurns is how often each rank acquires in the run that counts operations.
const countedTurns = 100

// counting is a window that counts operations by the level that their ends have in common. It
// hides that ranks share memory, so a lock uses operations for all that it does.
type counting struct {
	rma.Window
	levels levels
	n      []uint64
}

func (c *counting) count(target rma.Rank) { c.n[c.levels.common(target)]++ }

func (c *counting) Put(target rma.Rank, disp rma.Disp, value uint64) {
	c.count(target)
	c.Window.Put(target, disp, value)
}

func (c *counting) Get(target rma.Rank, disp rma.Disp) uint64 {
	c.count(target)
	return c.Window.Get(target, disp)
}

func (c *counting) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	c.count(target)
	c.Window.Accumulate(target, disp, op, operand)
}

func (c *counting) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	c.count(target)
	return c.Window.FetchOp(target, disp, op, operand)
}

func (c *counting) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	c.count(target)
	return c.Window.CAS(target, disp, old, new)
}

// Await counts as one operation, however often it looks.
func (c *counting) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	c.count(target)
	return c.Window.Await(ctx, target, disp, until)
}

// count is the run that counts: empty sections of another lock, which is used by operations
// alone. All ranks take part.
func (r *player) count() error {
	w := &counting{Window: r.w, levels: r.levels, n: make([]uint64, r.tree.Levels()+2)}
	l := sideOf(r.counted(w))
	if err := r.meet(); err != nil {
		return err
	}
	r.probe.phase.Set(phaseAcquires)
	for range countedTurns {
		if r.writes(&l) {
			if err := l.Acquire(r.ctx); err != nil {
				return err
			}
			l.Release()
			continue
		}
		if err := l.rw.AcquireRead(r.ctx); err != nil {
			return err
		}
		l.rw.ReleaseRead()
	}
	r.sample.Remote, r.sample.Counted = w.n, countedTurns
	return r.meet()
}
