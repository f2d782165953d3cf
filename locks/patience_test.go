package locks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// rivals are ranks that want a lock as often as they can, and one that waits beside them. The
// time is virtual and the delays are a described machine's, so the order is the same each time.
type rivals struct {
	lock    string
	machine string
	options locks.Options
	turns   int                                      // of each rival
	section int                                      // its length, in pauses
	apart   bool                                     // rank 0's neighbours stay away
	rival   func(context.Context, locks.Mutex) error // acquires
	release func(locks.Mutex)
	waiter  func(context.Context, locks.Mutex) error // acquires
	done    func(locks.Mutex)
}

// overtake is how often the rivals acquire the lock while rank 0 waits for it, at most. Rank 0
// comes four times.
func (r rivals) overtake(t *testing.T) (most int) {
	t.Helper()
	spec, ok := locks.ByName(r.lock)
	if !ok {
		t.Fatalf("there is no lock %s", r.lock)
	}
	system := sim.System{
		Topology: machine(t, r.machine), Shared: !r.options.Operations, MaxSteps: 1 << 20,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			passed, waits := 0, false
			most = 0
			l, err := spec.New(f, r.options)
			if err != nil {
				return sim.Program{}, err
			}
			word, err := f.Alloc(1)
			if err != nil {
				return sim.Program{}, err
			}
			tree := f.Topology()
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				m, n := l.At(w), tree.Levels()
				if w.Rank() != 0 && r.apart && tree.Element(w.Rank(), n) == tree.Element(0, n) {
					return nil
				}
				if w.Rank() == 0 {
					w.Pause(r.section * 4)
					w.Get(0, word) // now the time has passed
					for range 4 {
						passed, waits = 0, true
						if err := r.waiter(ctx, m); err != nil {
							return err
						}
						most, waits = max(most, passed), false
						w.Pause(r.section)
						r.done(m)
						w.Get(0, word)
					}
					return nil
				}
				w.Pause(int(w.Rank()) * r.section / 2)
				for range r.turns {
					if err := r.rival(ctx, m); err != nil {
						return err
					}
					if waits {
						passed++
					}
					w.Pause(r.section)
					r.release(m)
				}
				return nil
			}}, nil
		},
	}
	if report := system.Predict(sim.Machines()[0], 1); report.Failure != nil {
		t.Fatal(report.Failure)
	}
	return most
}

func acquire(ctx context.Context, m locks.Mutex) error { return m.Acquire(ctx) }
func acquireLow(ctx context.Context, m locks.Mutex) error {
	return m.(locks.PriorityMutex).AcquireLow(ctx)
}
func acquireRead(ctx context.Context, m locks.Mutex) error {
	return m.(locks.RWMutex).AcquireRead(ctx)
}
func release(m locks.Mutex)     { m.Release() }
func releaseRead(m locks.Mutex) { m.(locks.RWMutex).ReleaseRead() }

// TestPatience lets a rank wait beside rivals that the lock prefers. With a small bound few of
// them overtake it, and about as many as the bound says. With a large one all do.
func TestPatience(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	const turns = 40
	for _, c := range []struct {
		rivals
		bound func(o *locks.Options, n int)
		ranks int // rivals
		spare int // how many more than the bound may overtake: those on their way
	}{
		{rivals{lock: "P-MCS-MCS", rival: acquire, release: release, waiter: acquireLow, done: release},
			func(o *locks.Options, n int) { o.High = n }, 3, 1},
		{rivals{lock: "P-HMCS-MCS", rival: acquire, release: release, waiter: acquireLow, done: release},
			func(o *locks.Options, n int) { o.High = n }, 3, 1},
		{rivals{lock: "C-RW-RP-MCS-MCS", rival: acquireRead, release: releaseRead, waiter: acquire, done: release},
			func(o *locks.Options, n int) { o.Patience = n }, 3, 3},
		{rivals{lock: "C-RW-WP-MCS-MCS", rival: acquire, release: release, waiter: acquireRead, done: releaseRead},
			func(o *locks.Options, n int) { o.Patience = n }, 3, 4},
	} {
		for _, way := range []way{byOperations, direct} {
			t.Run(fmt.Sprintf("%s/%s", c.lock, way), func(t *testing.T) {
				r := c.rivals
				r.machine, r.turns, r.section = fmt.Sprintf("core:%d", c.ranks+1), turns, 1<<17
				r.options.Operations = way == byOperations
				var seen []string
				for _, n := range []int{1, 2, 5, 10} {
					c.bound(&r.options, n)
					got := r.overtake(t)
					seen = append(seen, fmt.Sprint(got))
					if got > n+c.spare || got < n-2 {
						t.Errorf("with a bound of %d, %d rivals overtake", n, got)
					}
				}
				c.bound(&r.options, 1<<20)
				if got := r.overtake(t); got < c.ranks*(turns-4) {
					t.Errorf("without a bound only %d rivals overtake, want nearly %d", got, c.ranks*turns)
				}
				t.Logf("bounds of 1, 2, 5 and 10: %s overtake", strings.Join(seen, ", "))
			})
		}
	}
}

// TestHeadLosesPatience lets a rank that steals again and again meet the head of Fissile. The
// head has the lock after as many looks as Options.Patience says, and TTS-MCS's at once.
func TestHeadLosesPatience(t *testing.T) {
	slow := locks.Backoff{Min: 1 << 14, Max: 1 << 30} // looks after 1, 3, 7 and 15 sections, about
	for _, c := range []struct {
		lock    string
		options locks.Options
		least   int
		most    int
	}{
		{"Fissile", locks.Options{Patience: 1, Backoff: slow}, 1, 3},
		{"Fissile", locks.Options{Patience: 4, Backoff: slow}, 2, 20},
		{"SHFL", locks.Options{}, 0, 1},
		{"SHFL-TAS", locks.Options{}, 0, 1},
		{"TTS-MCS", locks.Options{}, 0, 1},
		{"TAS-MCS", locks.Options{}, 0, 1},
	} {
		for _, way := range []way{byOperations, direct} {
			c.options.Operations = way == byOperations
			r := rivals{lock: c.lock, machine: "core:2", options: c.options, turns: 60, section: 1 << 14,
				rival: acquire, release: release, waiter: acquire, done: release}
			if got := r.overtake(t); got > c.most || got < c.least {
				t.Errorf("%s, patience %d: %d steal while a rank waits, want %d to %d", c.lock, c.options.Patience, got, c.least, c.most)
			} else {
				t.Logf("%s, patience %d, %s: %d steal", c.lock, c.options.Patience, way, got)
			}
		}
	}
}
