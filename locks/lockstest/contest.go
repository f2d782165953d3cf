package lockstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Contest describes ranks that acquire a lock again and again, in the simulator.
// Between two operations of its window a rank runs without interruption. So the ranks
// share plain variables, which say which ranks are inside, which ranks have queued up
// and which value was written last. Checks compare them with the lock's promises:
//
//   - no rank is inside together with a writer, even after a crash;
//   - a rank inside sees the last writer's unflushed Put, at a third rank;
//   - ranks get a FIFO lock in the order in which they queued up, but readers side by side in any;
//   - a rank that has queued up is overtaken as often as the row allows, at most;
//   - Alone is false only if another rank wants the lock;
//   - an error comes from the context, or from a broken lock;
//   - the counts agree with the events.
type Contest struct {
	Subject Subject
	Options locks.Options
	// Acquisitions is how often each rank acquires.
	Acquisitions int
	// Reads reports whether a rank reads, or has low priority in a lock with two. The
	// other ranks write. If it is nil, all ranks write.
	Reads func(p rma.Rank) bool
	// Quits is the mean number of operations of the lock until the context of an
	// acquiring rank ends. If it is zero, no context ends. Quit draws the moments.
	Quits int
	Quit  *rand.Rand
}

// Match is one run of a contest.
type Match struct {
	c    Contest
	at   At
	data rma.Disp
	home rma.Rank // rank of the data
	all  []contestant

	readers, writers int // number of ranks inside
	written          uint64
	arrivals         []rma.Rank // ranks that have queued up, in a FIFO lock
	gaveUp           int
	broken           bool // a rank has left because its window failed
}

// contestant is the state of a rank, as the checks know it.
type contestant struct {
	lock     locks.Mutex
	wants    bool // it is acquiring
	reads    bool
	queued   bool // it is acquiring and has queued up
	exempt   bool // it gives up, or has given up before and may find its old place in the queue again
	quit     context.CancelFunc
	next     uint64 // fingerprint of the operation that it is about to perform
	acquired uint64
	passed   []int // how often each other rank has got the lock since it queued up, if the row has a bound
}

// Start allocates a lock and the data that it protects.
func (c Contest) Start(f rma.Fabric) (*Match, error) {
	at, err := c.Subject.New(f, c.Options)
	if err != nil {
		return nil, err
	}
	data, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	rma.Label(f, data, 1, "data")
	ranks := f.Topology().Ranks()
	m := &Match{c: c, at: at, data: data, home: rma.Rank(ranks - 1), all: make([]contestant, ranks)}
	for p := range m.all {
		if c.Subject.Spec.Overtakes > 0 {
			m.all[p].passed = make([]int, ranks)
		}
	}
	return m, nil
}

// Rank is the body of each rank.
func (m *Match) Rank(ctx context.Context, w rma.Window) error {
	r := &m.all[w.Rank()]
	r.lock = m.at(spied(w, m, r))
	mode := write
	if m.c.Reads != nil && m.c.Reads(w.Rank()) {
		mode = read
		if m.c.Subject.Spec.Kind == locks.Priority {
			mode = low
		}
	}
	r.reads = mode == read
	for range m.c.Acquisitions {
		if err := m.acquire(ctx, w, r, mode); err != nil {
			return err
		}
		if err := m.inside(w, mode); err != nil {
			return err
		}
		m.leave(mode)
		if mode == read {
			r.lock.(locks.RWMutex).ReleaseRead()
		} else {
			r.lock.Release()
		}
	}
	return nil
}

// acquire tries until the rank has the lock, or the window has failed.
func (m *Match) acquire(ctx context.Context, w rma.Window, r *contestant, mode mode) error {
	for {
		// A quarter of the attempts never give up. A lock may wake such a rank in
		// another way, because its context cannot end.
		attempt, cancel := ctx, context.CancelFunc(nil)
		if m.c.Quits > 0 && m.c.Quit.IntN(4) > 0 {
			attempt, cancel = context.WithCancel(ctx)
		}
		r.wants, r.queued, r.quit = true, false, cancel
		counted := r.lock.(locks.Counter).Counts()
		var err error
		switch mode {
		case read:
			err = r.lock.(locks.RWMutex).AcquireRead(attempt)
		case low:
			err = r.lock.(locks.PriorityMutex).AcquireLow(attempt)
		default:
			err = r.lock.Acquire(attempt)
		}
		r.wants, r.quit = false, nil
		done := attempt.Err() != nil
		if cancel != nil {
			cancel()
		}
		if err == nil {
			return m.enter(w.Rank(), r, mode)
		}
		quits := done && errors.Is(err, context.Canceled) && !errors.Is(err, locks.ErrBroken)
		if failure := w.Err(); failure != nil && !quits {
			m.broken = true
			if !errors.Is(err, locks.ErrBroken) || !errors.Is(err, failure) {
				return fmt.Errorf("acquiring when the window fails returned %v, want an error that matches %q and %q", err, locks.ErrBroken, failure)
			}
			return err // the contest wants this error
		}
		if !quits {
			return fmt.Errorf("acquiring for %s returned %v", mode, err)
		}
		if r.queued && m.c.Subject.Spec.Aborts == locks.Never {
			return fmt.Errorf("a rank that has queued up gives up, but the lock's row says that it never does")
		}
		if counts := r.lock.(locks.Counter).Counts(); counts != counted {
			return fmt.Errorf("rank %d counted %+v, gave up, and counts %+v", w.Rank(), counted, counts)
		}
		m.dequeue(w.Rank(), false)
		r.exempt, r.acquired = true, r.acquired+1<<32
		m.gaveUp++
		ctx = context.WithoutCancel(ctx)
	}
}

// enter checks and notes that a rank is inside, as soon as its acquire has returned.
func (m *Match) enter(p rma.Rank, r *contestant, mode mode) error {
	switch {
	case m.writers > 0:
		return fmt.Errorf("exclusion broken: rank %d enters beside a writer", p)
	case mode != read && m.readers > 0:
		return fmt.Errorf("exclusion broken: rank %d enters to write beside %d readers", p, m.readers)
	case mode != read:
		m.writers++
	default:
		m.readers++
	}
	r.acquired++
	defer func() { r.exempt = false }()
	if err := m.overtakes(p, r); err != nil {
		return err
	}
	return m.dequeue(p, true)
}

// overtakes notes that a rank has got the lock before all that have queued up and wait. It returns
// an error if it has overtaken one of them more often than the row allows.
func (m *Match) overtakes(p rma.Rank, r *contestant) error {
	most := m.c.Subject.Spec.Overtakes
	clear(r.passed)
	for q := range m.all {
		other := &m.all[q]
		if most == 0 || other == r || !other.wants || !other.queued {
			continue
		}
		if other.passed[p]++; other.passed[p] > most {
			return fmt.Errorf("order broken: rank %d has overtaken rank %d, which waits, %d times", p, q, other.passed[p])
		}
	}
	return nil
}

func (m *Match) leave(mode mode) {
	if mode != read {
		m.writers--
	} else {
		m.readers--
	}
}

// inside is what a rank does while it holds the lock.
func (m *Match) inside(w rma.Window, mode mode) error {
	seen := w.Get(m.home, m.data)
	if w.Err() != nil {
		return w.Err()
	}
	if seen != m.written {
		return fmt.Errorf("stale data: rank %d holds the lock and sees write %d, but write %d was made under it", w.Rank(), seen, m.written)
	}
	if mode == read {
		return nil
	}
	m.written++
	w.Put(m.home, m.data, m.written)
	if c, ok := m.all[w.Rank()].lock.(locks.Cohort); ok && !c.Alone() && w.Err() == nil && !m.wanted() && m.gaveUp == 0 && !m.broken {
		return fmt.Errorf("rank %d is not alone, but no other rank wants the lock", w.Rank())
	}
	return nil
}

// wanted reports whether any rank is acquiring the lock now.
func (m *Match) wanted() bool {
	for i := range m.all {
		if m.all[i].wants {
			return true
		}
	}
	return false
}

// queue notes that a rank has queued up.
func (m *Match) queue(p rma.Rank) {
	if m.c.Subject.Spec.FIFO {
		m.arrivals = append(m.arrivals, p)
	}
}

// dequeue notes that a rank is no longer in the queue. If turn says that the rank has
// got the lock, it returns an error if another rank's turn was first.
func (m *Match) dequeue(p rma.Rank, turn bool) error {
	first := true
	for i, q := range m.arrivals {
		if q == p {
			m.arrivals = append(m.arrivals[:i], m.arrivals[i+1:]...)
			if turn && !first && !m.all[p].exempt {
				return fmt.Errorf("order broken: rank %d has the lock before ranks %v, which queued up before it", p, m.arrivals[:i])
			}
			return nil
		}
		first = first && (m.all[q].exempt || m.all[p].reads && m.all[q].reads)
	}
	if turn && m.c.Subject.Spec.FIFO {
		return fmt.Errorf("order broken: rank %d has the lock and has not queued up", p)
	}
	return nil
}

// Check checks the counts at the end of a run without crashes.
func (m *Match) Check() error {
	var sum locks.Counts
	for p := range m.all {
		r := &m.all[p]
		counts := r.lock.(locks.Counter).Counts()
		if had := r.acquired & (1<<32 - 1); counts.Acquired != had || had != uint64(m.c.Acquisitions) {
			return fmt.Errorf("rank %d has acquired the lock %d times and counted %d", p, had, counts.Acquired)
		}
		sum = sum.Add(counts)
	}
	if sum.Waited > sum.Acquired || m.gaveUp == 0 && sum.Upper+sum.Passed > 0 &&
		m.c.Subject.Spec.Kind == locks.Exclusive && sum.Upper+sum.Passed != sum.Acquired {
		return fmt.Errorf("the sum of all counts is %+v", sum)
	}
	return nil
}

// State is a fingerprint of what the checks remember, beyond the values that each
// rank has seen.
func (m *Match) State() uint64 {
	print := uint64(len(m.arrivals))
	for _, p := range m.arrivals {
		print = scramble(print, uint64(p))
	}
	for i := range m.all {
		r := &m.all[i]
		flags := uint64(0)
		for _, flag := range []bool{r.wants, r.queued, r.exempt} {
			if flags <<= 1; flag {
				flags++
			}
		}
		print = scramble(scramble(print, r.acquired<<3|flags), r.next)
		for _, n := range r.passed {
			print = scramble(print, uint64(n))
		}
	}
	return scramble(print, uint64(m.readers)<<32|uint64(m.writers))
}

func scramble(print, value uint64) uint64 {
	print = (print ^ value) * 0x9E3779B97F4A7C15
	return print ^ print>>29
}
