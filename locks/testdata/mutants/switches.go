package locks

import (
	"cmp"
	"os"
	"strconv"

	"github.com/orwl/go-orwl/net/rma"
)

// What the mutants' text calls: see mutate_test.go. Each function does what the operator
// or the method does whose name it has, unless the mistake of its number is made.

var mistake, _ = strconv.Atoi(os.Getenv("ORWL_LOCKS_MUTANT"))

func mutated(id int) bool { return id == mistake }

func mutatedUnless(id int, f func() error) error {
	if mutated(id) {
		return nil
	}
	return f()
}

func mutatedLess[T cmp.Ordered](id int, x, y T) bool    { return x < y || mutated(id) && x == y }
func mutatedAtMost[T cmp.Ordered](id int, x, y T) bool  { return x < y || !mutated(id) && x == y }
func mutatedMore[T cmp.Ordered](id int, x, y T) bool    { return x > y || mutated(id) && x == y }
func mutatedAtLeast[T cmp.Ordered](id int, x, y T) bool { return x > y || !mutated(id) && x == y }

type integer interface {
	~int | ~int32 | ~uint64 | ~int64
}

func mutatedSum[T integer](id int, x, y T) T {
	if mutated(id) {
		return x - y
	}
	return x + y
}

func mutatedDifference[T integer](id int, x, y T) T {
	if mutated(id) {
		return x + y
	}
	return x - y
}

func mutatedZero(id int, x uint64) uint64 {
	if mutated(id) {
		return 0
	}
	return x
}

func mutatedOnes(id int, x uint64) uint64 {
	if mutated(id) {
		return ^uint64(0)
	}
	return x
}

func (x *word) mutatedpublish(quiet, late int, v uint64) {
	switch {
	case mutated(quiet):
		x.Store(v)
	case mutated(late):
		x.m.w.Put(x.Target, x.Disp, v)
	default:
		x.publish(v)
	}
}

func (x *word) mutatedaccumulate(quiet, late int, delta uint64) {
	switch {
	case mutated(quiet):
		x.Add(delta)
	case mutated(late):
		x.m.w.Accumulate(x.Target, x.Disp, rma.Sum, delta)
	default:
		x.accumulate(delta)
	}
}

func (x *word) mutatedStore(late int, v uint64) {
	if mutated(late) && !x.direct {
		x.m.w.Put(x.Target, x.Disp, v)
		return
	}
	x.Store(v)
}

func (x *word) mutatedSwap(torn int, v uint64) (old uint64) {
	if mutated(torn) {
		old = x.Load()
		x.Store(v)
		return old
	}
	return x.Swap(v)
}

func (x *word) mutatedCompareAndSwap(torn int, old, new uint64) bool {
	if mutated(torn) {
		if x.Load() != old {
			return false
		}
		x.Store(new)
		return x.direct || x.m.w.Err() == nil
	}
	return x.CompareAndSwap(old, new)
}

func (x *word) mutatedAdd(torn, none int, delta uint64) (old uint64) {
	switch {
	case mutated(torn):
		old = x.Load()
		x.Store(old + delta)
		return old
	case mutated(none):
		return x.Load()
	}
	return x.Add(delta)
}
