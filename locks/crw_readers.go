package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// AcquireRead implements RWMutex.
func (l *crw) AcquireRead(ctx context.Context) (err error) {
	if err := l.begin(ctx); err != nil {
		return err
	}
	var waited bool
	switch l.preference {
	case noPreference:
		waited, err = l.readInTurn()
	case readersFirst:
		waited, err = l.readFirst()
	case writersFirst:
		waited, err = l.readBehindWriters()
	}
	if err != nil {
		return l.fail(err)
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.acquired(reading, waited)
	return nil
}

// readInTurn comes as a reader of C-RW-NP.
func (l *crw) readInTurn() (waited bool, err error) {
	if waited, err = l.cohort.acquire(); err == nil {
		l.own.ingress.Add(1)
		l.cohort.Release()
	}
	return waited, err
}

// readFirst comes as a reader of C-RW-RP. It goes back as long as a writer has raised the
// barrier, and stays if a writer is inside.
func (l *crw) readFirst() (waited bool, err error) {
	v := l.own.ingress.Add(1)
	for ; v&crwRaised != 0; v = l.own.ingress.Add(1) {
		l.own.egress.accumulate(1)
		waited = true
		if _, err := l.own.ingress.await(forever(), rma.Is(0).Masked(crwRaised)); err != nil {
			return true, err
		}
	}
	if v&crwClosed != 0 {
		_, err = l.own.ingress.await(forever(), rma.Is(0).Masked(crwClosed))
		waited = true
	}
	return waited, err
}

// readBehindWriters comes as a reader of C-RW-WP. It goes back as long as it finds its
// indicator closed. When it has seen so many writers that it has lost its patience, it raises
// the barrier.
func (l *crw) readBehindWriters() (waited bool, err error) {
	const turn = crwClosed | crwPhaseMask
	seen := 0
	for {
		v := l.own.ingress.Add(1)
		if v&crwClosed == 0 {
			break
		}
		l.own.egress.accumulate(1)
		if seen++; seen == l.o.Patience {
			l.barrier.accumulate(1)
		}
		if _, err := l.own.ingress.await(forever(), rma.IsNot(v&turn).Masked(turn)); err != nil {
			return true, err
		}
	}
	if seen >= l.o.Patience {
		l.barrier.accumulate(^uint64(0))
	}
	return seen > 0, nil
}

// ReleaseRead implements RWMutex.
func (l *crw) ReleaseRead() {
	if l.end(reading) {
		l.own.egress.accumulate(1)
	}
}

// TryAcquireRead implements ReadTryer.
func (l *crw) TryAcquireRead() bool {
	if l.begin(forever()) != nil {
		return false
	}
	if l.preference == noPreference {
		if !l.cohort.tryAcquire() {
			return false
		}
		l.own.ingress.Add(1)
		l.cohort.Release()
	} else if v := l.own.ingress.Add(1); v&(crwClosed|crwRaised) != 0 {
		l.own.egress.accumulate(1)
		return false
	}
	return l.decided() == nil && l.tried(reading, true)
}
