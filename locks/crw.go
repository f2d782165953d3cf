package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// crw is the reader-writer locks C-RW-NP, C-RW-RP and C-RW-WP of Calciu, Dice, Lev, Luchangco,
// Marathe and Shavit, PPoPP'13: a cohort lock for writers, and for readers an indicator
// (ReadIndr), one for each element. C-RW-X-G-L is over the cohort lock C-G-L.
//
//	writers   cohort lock ─▶ wait until every indicator is empty ─▶ hold
//	readers   own indicator ─▶ hold
//
//	ingress, of an indicator                              egress
//	 63      62       61 ... 54   53 ... 0
//	closed │ raised │ phase     │ readers that have come   readers that have gone
//
// An indicator is empty if as many have gone as have come. Both numbers only grow. A writer
// reads egress first: if ingress shows the same number, no reader was inside in between.
//
// The three locks differ in the order of readers and writers:
//
//   - NP, no preference: a reader takes the cohort lock, comes, and lets the cohort lock go.
//   - RP: a writer closes an indicator only if it is empty. If one is not, it opens those that
//     it has closed, and waits until a reader goes. A reader that finds its indicator closed
//     stays, and is the next. After Options.Patience looks the writer raises the barrier
//     (RBarrier) until it has the lock: new readers go back and wait for that.
//   - WP: a writer closes all indicators and waits for the readers inside. A reader that finds
//     its indicator closed goes back and waits. A writer that knows of a writer behind it in
//     its element leaves the indicators closed. After Options.Patience writers a reader raises
//     a barrier (WBarrier): new writers wait for that.
//
// The paper's readers ask the cohort lock whether it is locked. On distributed memory every
// reader would have to go to the lock's home for that. Here closed says it, beside the count
// that the reader changes anyway. For the same reason raised stands there. The paper's writers
// of RP let go of the cohort lock while they wait; here they keep it, since no reader asks for
// it, and so keep their order. Patience is a number of looks: there is no clock.
//
// Invariant: only the holder of the cohort lock changes closed, raised and phase. A writer
// inside has closed every indicator in RP and WP, and each is empty, except for readers that go
// back. In NP no reader comes while a writer has the cohort lock.
//
// Memory order: side.end comes before a reader goes and before a writer lets others in.
//
// Fairness: NP as the cohort lock, for readers and writers alike. RP: readers go before
// writers, until a writer has looked Options.Patience times. WP: the writers of an element go
// before readers, until a reader has seen Options.Patience of them.
//
// Cost, away from home: a reader a FetchOp and an Accumulate at its indicator, and in NP the
// cohort lock's. A writer the cohort lock's, and for every indicator two Gets in NP, two Gets
// and two atomics in RP; in WP three Gets and two atomics, and one atomic if it is passed
// along.
type crw struct {
	side
	preference
	cohort     nested
	indicators []indicator
	own        *indicator
	barrier    word // WBarrier
}

// preference is who goes first.
type preference uint8

const (
	noPreference preference = iota
	readersFirst
	writersFirst
)

// indicator is one of the indicators of readers (ReadIndr), as a rank knows it.
type indicator struct {
	ingress, egress word
	phase           uint64 // of ingress, when the rank closed it
}

// The words of C-RW. The cohort lock's follow. Each word of an indicator is alone on
// its cache line.
const (
	crwIngress = 0
	crwEgress  = line / 8
	crwRank    = 2 * line / 8
	crwHome    = 1
)

// The fields of ingress.
const (
	crwPhase     = 1 << 54
	crwRaised    = 1 << 62
	crwClosed    = 1 << 63
	crwCountMask = crwPhase - 1
	crwPhaseMask = crwRaised - crwPhase
)

func newCRW(p preference, cohort Spec) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(crw{preference: p})
		l.init(lock, w)
		l.barrier = l.atHome(0)
		l.cohort = newNested(lock, cohort, base{l.base.home + crwHome, l.base.rank + crwRank}, w)
		for p := range l.topo.Counters(l.o.TDC) {
			l.indicators = append(l.indicators, indicator{ingress: l.at(p, crwIngress), egress: l.at(p, crwEgress)})
		}
		for i, mine := 0, l.topo.Counter(l.rank, l.o.TDC); i < len(l.indicators); i++ {
			if l.indicators[i].ingress.Target == mine {
				l.own = &l.indicators[i]
			}
		}
		return l
	}
}

func wordsOfCRW(cohort Spec) func(*topology.Tree, Options) Words {
	return func(t *topology.Tree, o Options) Words {
		words := cohort.Words(t, nestedOptions(o).withDefaults(o.Name, t))
		return Words{Home: crwHome + words.Home, Rank: crwRank + words.Rank}
	}
}

// Acquire implements Mutex.
func (l *crw) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	kept := l.preference == writersFirst && l.barrier.Load() != 0
	if kept {
		if _, err := l.barrier.await(forever(), rma.Is(0)); err != nil {
			return l.fail(err)
		}
	}
	waited, err := l.cohort.acquire()
	if err != nil {
		return l.fail(err)
	}
	waited = waited || kept
	switch l.preference {
	case noPreference:
		waited = l.waitForReaders() || waited
	case readersFirst:
		waited = l.closeEmpty() || waited
	case writersFirst:
		if l.closeAll() {
			waited = l.waitForReaders() || waited
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.acquired(writing, waited)
	return nil
}

// waitForReaders waits until no reader is inside, and reports whether one was. On a window
// that has failed it ends.
func (l *crw) waitForReaders() (waited bool) {
	for i := range l.indicators {
		for r := &l.indicators[i]; ; waited = true {
			gone := r.egress.Load()
			if r.ingress.Load()&crwCountMask == gone || !r.awaitDeparture(gone) {
				break
			}
		}
	}
	return waited
}

// awaitDeparture waits until another number of readers has gone, and reports false if the
// window fails.
func (r *indicator) awaitDeparture(gone uint64) bool {
	_, err := r.egress.await(forever(), rma.IsNot(gone))
	return err == nil
}

// closeEmpty closes all indicators at a moment when no reader is inside, and reports whether
// it had to wait for that.
func (l *crw) closeEmpty() (waited bool) {
	raised := false
	for looks := 1; ; looks++ {
		busy, gone := l.tryClose()
		if busy == nil {
			break
		}
		waited = true
		if !raised && looks >= l.o.Patience {
			raised = true
			l.change(crwRaised)
		}
		if !busy.awaitDeparture(gone) {
			return waited
		}
	}
	if raised {
		l.change(^uint64(crwRaised - 1))
	}
	return waited
}

// tryClose closes all indicators, or none. In the second case it returns one that has
// readers, and how many had gone.
func (l *crw) tryClose() (busy *indicator, gone uint64) {
	for i := range l.indicators {
		r := &l.indicators[i]
		for {
			gone = r.egress.Load()
			v := r.ingress.Load()
			if v&crwCountMask != gone {
				l.open(l.indicators[:i])
				return r, gone
			}
			if r.ingress.CompareAndSwap(v, v|crwClosed) || l.broken() {
				r.phase = v & crwPhaseMask
				break
			}
		}
	}
	return nil, 0
}

// change adds to the ingress of all indicators.
func (l *crw) change(delta uint64) {
	for i := range l.indicators {
		l.indicators[i].ingress.Add(delta)
		l.indicators[i].ingress.wake()
	}
}

// closeAll closes the indicators that are open, and reports whether there was one.
func (l *crw) closeAll() (open bool) {
	for i := range l.indicators {
		r := &l.indicators[i]
		v := r.ingress.Load()
		if r.phase = v & crwPhaseMask; v&crwClosed == 0 {
			open = true
			r.ingress.Add(crwClosed)
		}
	}
	return open
}

// open opens indicators.
func (l *crw) open(indicators []indicator) {
	for i := range indicators {
		indicators[i].next(crwClosed)
	}
}

// next begins the next phase, and takes back a bit.
func (r *indicator) next(bit uint64) {
	next := (r.phase + crwPhase) & crwPhaseMask
	r.ingress.Add(next - r.phase - bit)
	r.phase = next
	r.ingress.wake()
}

// Release implements Mutex.
func (l *crw) Release() {
	if !l.end(writing) {
		return
	}
	switch {
	case l.preference == noPreference:
	case l.preference == writersFirst && !l.cohort.alone():
		for i := range l.indicators {
			l.indicators[i].next(0) // the writer behind finds them closed
		}
	default:
		l.open(l.indicators)
	}
	l.cohort.Release()
}

// TryAcquire implements Tryer. No rank of C-RW-NP looks at closed, so there it may stay.
func (l *crw) TryAcquire() bool {
	if l.begin(forever()) != nil || l.preference == writersFirst && l.barrier.Load() != 0 || !l.cohort.tryAcquire() {
		return false
	}
	if busy, _ := l.tryClose(); busy != nil {
		l.cohort.Release()
		return false
	}
	return l.decided() == nil && l.tried(writing, true)
}

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
