package queue

import (
	"errors"
	"math/bits"
	"testing"
)

// A waiter is found wherever it is in a queue of any length, and the number of lists is
// at most a few times that length.
func TestSlotsGrow(t *testing.T) {
	for _, n := range []int{1, fewest - 1, fewest, 2 * fewest, 2*fewest + 1, 100} {
		for _, begin := range []uint64{0, word(0, -3), word(-3, -60)} {
			for _, lastFirst := range []bool{false, true} {
				r := newResource(t, 0)
				r.requested.Store(begin)
				r.completed.Store(begin)
				var holder Place
				fine(t, holder.Request(r, Write))
				places := make([]Place, 2*n)
				told := make([]int, 2*n)
				for i := range places {
					fine(t, places[i].Request(r, Mode(i%2))) // a reader, a writer
				}
				for i := range places {
					if lastFirst {
						i = 2*n - 1 - i
					}
					fine(t, places[i].Notify(func() { told[i]++ }))
				}
				levels, lists := 0, 0
				for s := r.far.Load(); s != nil; s = s.older {
					levels++
					lists += len(s.bays)
					if bits.OnesCount(uint(len(s.bays))) != 1 {
						t.Errorf("%d bays, no power of two", len(s.bays))
					}
				}
				if want := bits.Len(uint(n)); levels > want || lists > 8*n || (n >= fewest) != (levels > 0) || lastFirst && levels > 1 {
					t.Errorf("%d writers: %d levels with %d lists", n, levels, lists)
				}
				fine(t, holder.Acquire(t.Context()))
				fine(t, holder.Release())
				for i := range places {
					for j, told := range told {
						// The writer of a group waits for its reader.
						if want := j <= i; (told == 1) != want || told > 1 {
							t.Fatalf("%d writers, step %d: place %d was told %d times", n, i, j, told)
						}
					}
					fine(t, places[i].Acquire(t.Context()))
					fine(t, places[i].Release())
				}
			}
		}
	}
}

// A waiter that lists itself after its turn has come is in a list that settle looks at.
func TestListedAfterItsTurn(t *testing.T) {
	for writers := range 2 * fewest {
		r := newResource(t, 0)
		var p Place
		fine(t, p.Request(r, Read))
		for range writers {
			var w Place
			fine(t, w.Request(r, Write))
			fine(t, w.Cancel()) // a ghost that passes p
		}
		told := false
		fine(t, p.Notify(func() { told = true }))
		if !told {
			t.Errorf("not told, %d writers later", writers)
		}
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		if q, c := r.requested.Load(), r.completed.Load(); q != c {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
	}
}

// A goroutine that looks at a slot late finds a waiter that waits for something else: the same
// ticket of another resource, or another request of this one. It leaves it alone.
func TestLateLook(t *testing.T) {
	first, second := newResource(t, 0), newResource(t, 0)
	var holder, p Place
	told := 0
	wait := func(r *Resource, m Mode) {
		fine(t, holder.Request(r, Write))
		fine(t, p.Request(r, m))
		fine(t, p.Notify(func() { told++ }))
	}
	pass := func() {
		fine(t, holder.Acquire(t.Context()))
		fine(t, holder.Release())
	}
	at := func(writers int) uint64 { return word(0, writers) }
	wait(first, Write)
	pass()
	used := p.w
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	wait(first, Write)
	if p.w != used {
		t.Error("the next request has another waiter: a pair would allocate in each turn")
	}
	if told = 0; first.settle(at(1), at(1)) != 0 || told != 0 {
		t.Error("granted by the ticket of an earlier request")
	}
	pass()
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	wait(second, Write)
	if told = 0; first.settle(at(1), at(1)) != 0 || told != 0 || p.Granted() {
		t.Error("granted by the ticket of another resource")
	}
	for i := range first.writers {
		if first.writers[i].Load() != nil {
			t.Error("a resource keeps the memory of a place that has left")
		}
	}
	pass()
	used = p.w
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	if wait(second, Read); p.w == used {
		t.Error("a waiter in the slot of a writer waits in a list of readers")
	}
	pass()
	fine(t, p.Cancel())
}

// A writer that waits for readers only keeps its slot, although no writer is before it any more.
func TestSlotIsKept(t *testing.T) {
	r := newResource(t, 0)
	const slots = 2 * fewest // the slots that waiting makes
	writers := make([]Place, fewest+slots+1)
	request := func(from, to int) {
		for i := from; i < to; i++ {
			fine(t, writers[i].Request(r, Write))
		}
	}
	var reader Place
	request(0, fewest)
	fine(t, reader.Request(r, Read))
	request(fewest, len(writers))
	told := false
	fine(t, writers[fewest].Notify(func() { told = true }))
	for i := range fewest {
		fine(t, writers[i].Acquire(t.Context()))
		fine(t, writers[i].Release())
	}
	fine(t, reader.Acquire(t.Context()))
	fine(t, writers[fewest+slots].Notify(func() {}))
	if n := len(r.far.Load().older.bays); n != slots {
		t.Errorf("the writer had %d slots, want %d", n, slots)
	}
	fine(t, reader.Release())
	if !told {
		t.Error("a writer has lost its slot to one that comes later")
	}
}

// A goroutine that makes slots, and finds that another one has made fewer, makes more.
func TestSlotsGrowTwice(t *testing.T) {
	needsProbe(t)
	r := newResource(t, 0)
	r.probe = &between{armed: true, do: func() { r.grow(fewest) }}
	if n := len(r.grow(10 * fewest).bays); n <= 10*fewest {
		t.Errorf("%d slots for %d writers", n, 10*fewest)
	}
}

// After the resource has broken, requests complete out of their order. A writer that comes then
// leaves the slot to one that waits there.
func TestBrokenSlots(t *testing.T) {
	r := newResource(t, 0)
	places := make([]Place, fewest+2)
	for i := range places {
		fine(t, places[i].Request(r, Write))
	}
	told := make([]int, len(places))
	wait := func(i int) { fine(t, places[i].Notify(func() { told[i]++ })) }
	wait(1)
	r.completed.Or(broken) // Break has come so far, and two others have given up
	r.completed.Add(2 * oneWriter)
	wait(fewest + 1)
	r.Break(errors.New("gone"))
	if told[1] != 1 || told[fewest+1] != 1 {
		t.Errorf("told %d times and %d times of the end", told[1], told[fewest+1])
	}
}

// Once a waiter shows that it waits, it may be granted, and another goroutine may use its slot.
// So list does not touch the slot after that.
func TestShownLast(t *testing.T) {
	needsProbe(t)
	r := newResource(t, 0)
	ctx := t.Context()
	var holder, p, q, x Place
	pass := func(p *Place) {
		if !p.Requested() {
			fine(t, p.Request(r, Write))
		}
		fine(t, p.Acquire(ctx))
		fine(t, p.Release())
	}
	fine(t, holder.Request(r, Write))
	fine(t, p.Request(r, Write))
	fine(t, p.Notify(func() {}))
	pass(&holder)
	pass(&p)
	for range fewest - 2 {
		pass(&x)
	}
	fine(t, holder.Request(r, Write))
	fine(t, p.Request(r, Write)) // for the same slot
	told := false
	r.probe = &shown{w: p.w, do: func() {
		pass(&holder)
		pass(&p)
		for range fewest - 2 {
			pass(&x)
		}
		fine(t, holder.Request(r, Write))
		fine(t, q.Request(r, Write)) // for the same slot
		fine(t, q.Notify(func() { told = true }))
	}}
	fine(t, p.Notify(func() {}))
	pass(&holder)
	if !told {
		t.Error("a writer has lost its slot to one that was granted before")
	}
}

// shown calls a function at the first step after a waiter has shown itself.
type shown struct {
	w  *waiter
	do func()
}

func (s *shown) saw(uint64) {}

func (s *shown) point() {
	if do := s.do; do != nil && s.w.state() == listed {
		s.do = nil
		do()
	}
}
