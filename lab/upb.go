package lab

import (
	"errors"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// UPB takes free locks, each once in a scenario. A scenario names the rank that takes
// them and the rank that had them last (Uffmann22, table 4.1):
//
//	            a: the home   b: a rank of the home's node   c: a rank of another node
//	1: itself       1a                     1b                            1c
//	2: its node     2a                     2b                            2c
//	3: another      3a                     3b                            3c

// upbLocks is how many locks UPB has.
const upbLocks = 1000

// homesUPB are the homes of the locks: all live at rank 0.
func homesUPB(*topology.Tree) []rma.Rank { return make([]rma.Rank, upbLocks) }

// castUPB are the ranks that take part: the home, its neighbour, and two ranks of another node.
type castUPB struct{ home, near, far, beyond rma.Rank }

var errUPB = errors.New("want two ranks in each of two elements of level 2, for instance node:2 core:2")

func fitsUPB(t *topology.Tree) error {
	_, err := castOf(t)
	return err
}

// castOf finds the ranks in the first two elements of level 2.
func castOf(t *topology.Tree) (c castUPB, err error) {
	if t.Levels() < 2 || t.Elements(2) < 2 {
		return c, errUPB
	}
	home, here := t.Members(2, 0)
	far, there := t.Members(2, 1)
	if here < 2 || there < 2 {
		return c, errUPB
	}
	return castUPB{home, home + rma.Rank(here) - 1, far, far + rma.Rank(there) - 1}, nil
}

// scenario is one of the nine.
type scenario struct {
	name          string
	before, taker rma.Rank
}

func (c castUPB) scenarios() []scenario {
	return []scenario{
		{"1a", c.home, c.home}, {"1b", c.near, c.near}, {"1c", c.far, c.far},
		{"2a", c.near, c.home}, {"2b", c.home, c.near}, {"2c", c.beyond, c.far},
		{"3a", c.far, c.home}, {"3b", c.far, c.near}, {"3c", c.home, c.far},
	}
}

// playUPB is one rank's part in UPB.
func playUPB(r *player) error {
	cast, err := castOf(r.tree)
	if err != nil {
		return err
	}
	n := upbLocks
	if r.c.Turns > 0 {
		n = min(n, r.c.Turns)
	}
	if slices.Contains([]rma.Rank{cast.home, cast.near, cast.far, cast.beyond}, r.w.Rank()) { // the warm-up
		if _, err := r.takeAll(n); err != nil {
			return err
		}
	}
	r.sample.reset()
	for _, s := range cast.scenarios() {
		if err := r.meet(); err != nil {
			return err
		}
		if r.w.Rank() == s.before {
			if _, err := r.takeAll(n); err != nil {
				return err
			}
		}
		if err := r.meet(); err != nil {
			return err
		}
		if r.w.Rank() != s.taker {
			continue
		}
		took, err := r.takeAll(n)
		if err != nil {
			return err
		}
		r.sample.value(s.name, float64(took), float64(n))
		r.sample.Turns += uint64(n)
		r.sample.Time += took
	}
	return r.meet()
}

// takeAll takes the first n locks, one after the other, and returns how long that took.
func (r *player) takeAll(n int) (time.Duration, error) {
	begin := r.clock.Now()
	for k := range n {
		changes, err := r.acquire(k, true)
		if err != nil {
			return 0, err
		}
		if err := r.release(k, true, changes); err != nil {
			return 0, err
		}
	}
	return r.clock.Now() - begin, nil
}
