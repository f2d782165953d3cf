package locks

import (
	"context"
	"sync/atomic"
)

// AcquireRead implements RWMutex. Nobody asks whether the window has failed since the
// counter answered, which is memory. The turn is written down before the reader is counted,
// since all that comes after has to wait for the answer.
func (l *rmaRW) AcquireRead(ctx context.Context) error {
	was := l.turn
	switch {
	case was.mode() != ready, !l.endless(&ctx), l.failed.Load():
		return l.acquireRead(ctx)
	}
	l.setTurn(was + oneTurn + reading - ready)
	found := atomic.AddUint64(l.c.at, arriveOne) - arriveOne
	if found&(wanted|barred) != 0 || arrived(found) >= l.c.tr {
		l.setTurn(was)
		return l.arrived(ctx, found)
	}
	return nil
}

// acquireRead is AcquireRead for who has something to see to before, or has to go far.
func (l *rmaRW) acquireRead(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	return l.arrived(ctx, l.c.add(arriveOne))
}

// arrived is the rest of AcquireRead for who has been counted, and has found that.
func (l *rmaRW) arrived(ctx context.Context, found uint64) error {
	l.c.settle(found)
	if err := l.decided(); err != nil {
		return err
	}
	if l.c.kept(found) {
		if err := l.waitToRead(ctx, found); err != nil {
			return l.fail(err)
		}
		count(&l.counts.Waited)
	}
	l.acquired(reading)
	return nil
}

// waitToRead is for a reader that was kept out. It stays, perhaps after it has
// stepped back and come again.
func (l *rmaRW) waitToRead(ctx context.Context, found uint64) error {
	if l.steps && l.c.stepBack(found, away) {
		if err := l.c.change(ctx, found); err != nil {
			return err
		}
		found = l.c.add(arriveOne)
		if l.c.settle(found); !l.c.kept(found) {
			return l.decided()
		}
	}
	return l.c.stay(ctx, found)
}

// ReleaseRead implements RWMutex.
func (l *rmaRW) ReleaseRead() {
	was := l.turn
	if was.mode() != reading || !l.direct {
		l.end(reading)
		l.c.depart()
		return
	}
	l.setTurn(was - reading + ready)
	if atomic.AddUint64(l.c.at, departOne)&(wanted|barred) != 0 {
		l.c.wake()
	}
}

// TryAcquireRead implements ReadTryer.
func (l *rmaRW) TryAcquireRead() bool {
	if l.begin(context.Background()) != nil || !l.c.tryArrive() {
		return false
	}
	l.acquired(reading)
	return true
}
