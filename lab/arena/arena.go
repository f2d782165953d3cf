package arena

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/rma/model"
)

// The windows that a case may name.
const (
	Mem = "mem" // ranks are goroutines
	SHM = "shm" // ranks are processes that share memory
	P2P = "p2p" // ranks are nodes that share nothing
	Sim = "sim" // ranks are played in virtual time
)

// Windows are the windows that a case may name.
func Windows() []string { return []string{Mem, SHM, P2P, Sim} }

// Options say how to play a case.
type Options struct {
	// Contender is the lock to play; the row of the table that the case names if nil. On shm
	// and p2p it has to be nil.
	Contender *lab.Contender
	// Machine is what the simulator plays on. Required for sim.
	Machine model.Model
	// Sampled, if not nil, is told of each sample as it comes, by one goroutine at a time.
	Sampled func(lab.Sample)
	// Limit is how long a repeat may take before it hangs; the case's own if zero.
	Limit time.Duration

	patience time.Duration // how long ranks have to say what they do, and to end; stopLimit if zero
}

// Play plays a case, and returns the samples of all ranks and repeats.
func Play(ctx context.Context, c lab.Case, o Options) ([]lab.Sample, error) {
	if o.Contender == nil && c.Lock != "" {
		contender, err := contenderOf(c)
		if err != nil {
			return nil, err
		}
		if c.Window == Mem || c.Window == Sim {
			o.Contender = &contender
		}
	}
	if o.Contender == nil {
		o.Contender = new(lab.Contender)
	}
	if o.patience == 0 {
		o.patience = stopLimit
	}
	if o.Limit == 0 {
		o.Limit = c.Limit()
	}
	switch c.Window {
	case Mem:
		return playGoroutines(ctx, c, o)
	case SHM, P2P:
		return playProcesses(ctx, c, o)
	case Sim:
		return playSimulator(ctx, c, o)
	}
	return nil, fmt.Errorf("arena: no window %q: want mem, shm, p2p or sim", c.Window)
}

// contenderOf is the row of the table that a case names.
func contenderOf(c lab.Case) (lab.Contender, error) {
	s, ok := lab.LockByName(c.Lock)
	if !ok {
		return lab.Contender{}, fmt.Errorf("arena: no lock %q: orwl locks lists them", c.Lock)
	}
	return lab.Of(s, c.Options), nil
}

// machineClock is the clock of this machine.
type machineClock struct{ begin time.Time }

// Now implements lab.Clock.
func (m machineClock) Now() time.Duration { return time.Since(m.begin) }

// Compute implements lab.Clock: it looks at the clock until the time is over, as the papers do.
func (m machineClock) Compute(d time.Duration) {
	for end := m.Now() + d; m.Now() < end; {
	}
}

// collector takes in what ranks say, until all have ended.
type collector struct {
	c       lab.Case
	o       Options
	said    chan said
	samples []lab.Sample
}

// said is what a rank says: a sample, or its end.
type said struct {
	sample lab.Sample
	ended  bool
	err    error
}

func newCollector(c lab.Case, o Options) *collector {
	return &collector{c: c, o: o, said: make(chan said, 64)}
}

// collect returns when n ranks have ended. When a rank fails, or nothing comes for too long, it
// has stop end the others. stalled says what ranks do.
func (l *collector) collect(ctx context.Context, n int, stop func(), stalled func() []lab.StalledRank) ([]lab.Sample, error) {
	var failure error
	fail := func(err error) {
		if failure == nil {
			failure = err
			stop()
		}
	}
	limit := time.NewTimer(l.o.Limit)
	defer limit.Stop()
	var looked chan []lab.StalledRank
	done := ctx.Done()
	for n > 0 {
		select {
		case s := <-l.said:
			switch {
			case s.err != nil:
				fail(s.err)
			case !s.ended:
				l.samples = append(l.samples, s.sample)
				if l.o.Sampled != nil {
					l.o.Sampled(s.sample)
				}
				limit.Reset(l.o.Limit)
			}
			if s.ended {
				n--
			}
		case <-done:
			done = nil
			fail(ctx.Err())
		case <-limit.C:
			if failure != nil {
				return l.samples, failure // some rank does not even notice that its window failed
			}
			limit.Reset(l.o.patience)
			if looked != nil {
				fail(&lab.StallError{Case: l.c}) // they do not even answer
				continue
			}
			looked = make(chan []lab.StalledRank, 1)
			go func() { looked <- stalled() }()
		case ranks := <-looked:
			fail(&lab.StallError{Case: l.c, Ranks: ranks})
		}
	}
	return l.samples, failure
}

// stopLimit is how long ranks have to end after their window failed.
const stopLimit = 2 * time.Second
