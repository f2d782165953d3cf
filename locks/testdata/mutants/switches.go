package locks

import "github.com/orwl/go-orwl/net/rma"

// What the text of the mutants calls beside the operators: see mutants_test.go. Each
// function does what the method does whose name it has, unless the mistake of its number is
// made.

func mutatedUnless(id int, f func() error) error {
	if mutated(id) {
		return nil
	}
	return f()
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
