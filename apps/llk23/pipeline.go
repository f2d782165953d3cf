package main

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// sweep is what each rank does: all iterations of its strip, handing over its
// outermost rows and waiting for its neighbours'.
//
// In iteration k, rank r takes row k of r-1 (its last), sweeps its own first
// row and sends it to r-1; sweeps all others but the last; takes row k-1 of r+1
// (its first), sweeps its own last row and sends that to r+1. Row -1 of r+1 is
// an initial value, which r knows.
//
// A mailbox is empty whenever the next row is put into it:
//
//   - r-1 sends row k south after it took row k-1 from r, which r sent after it
//     took row k-1 from r-1.
//   - r sends row k north after it took row k from r-1, which r-1 sent after it
//     took row k-1 from r.
//
// So the rows themselves are the flow control, and nobody counts credits. Rank
// r-1 may be one iteration ahead of r, and no more.
func (s *strips) sweep(ctx context.Context, w rma.Window) error {
	me := w.Rank()
	t := turn{all: s, strip: s.parts[me], w: w, north: me > 0, south: int(me) < len(s.parts)-1}
	t.watch.clock = s.clock
	for k := range s.iters {
		if err := t.iterate(ctx, k); err != nil {
			return err
		}
	}
	t.watch.enter(waiting) // for the others to end
	return nil
}

// turn is one rank's part in a sweep.
type turn struct {
	*strip
	all          *strips
	w            rma.Window
	north, south bool // whether there is a neighbour
}

// iterate is iteration k.
func (t *turn) iterate(ctx context.Context, k int) error {
	if t.north {
		if err := t.receive(ctx, t.all.southward, 0, k); err != nil {
			return err
		}
	}
	last := t.rows
	if last > 1 {
		if err := t.compute(ctx, 1, 2); err != nil {
			return err
		}
		t.sendNorth(k)
		if err := t.compute(ctx, 2, last); err != nil {
			return err
		}
	}
	if t.south && k > 0 {
		if err := t.receive(ctx, t.all.northward, last+1, k-1); err != nil {
			return err
		}
	}
	if err := t.compute(ctx, last, last+1); err != nil {
		return err
	}
	if last == 1 {
		t.sendNorth(k)
	}
	if t.south {
		t.send(t.all.southward, t.w.Rank()+1, last, k)
	}
	return nil
}

func (t *turn) compute(ctx context.Context, from, to int) error {
	t.watch.enter(computing)
	return t.all.sweepRows(ctx, t.block, from, to, &t.swept)
}

// sendNorth hands the first row over, unless nobody needs it any more.
func (t *turn) sendNorth(k int) {
	if t.north && k < t.all.iters-1 {
		t.send(t.all.northward, t.w.Rank()-1, 1, k)
	}
}

// send hands row i of iteration k over.
func (t *turn) send(m mailbox, to rma.Rank, i, k int) {
	t.watch.enter(moving)
	m.send(t.w, to, t.interior(i), k)
	t.sent++
}

// receive waits for the neighbour's row of iteration k and makes it row i.
func (t *turn) receive(ctx context.Context, m mailbox, i, k int) error {
	t.watch.enter(waiting)
	if err := m.await(ctx, t.w, k); err != nil {
		return err
	}
	t.watch.enter(moving)
	m.take(t.w, t.interior(i))
	return nil
}

// interior is row i without its border.
func (t *turn) interior(i int) []float64 { return t.row(i)[1 : t.cols+1] }
