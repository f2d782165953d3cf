package queue

import "testing"

// between calls a function at the first step of a queue after the queue has seen a
// value.
type between struct {
	seen  uint64
	armed bool
	do    func()
}

func (b *between) saw(v uint64) {
	if v == b.seen && b.do != nil {
		b.armed = true
	}
}

func (b *between) point() {
	if do := b.do; b.armed && do != nil {
		b.do = nil
		do()
	}
}

// A goroutine that serves a list has taken it out. A request that is given up meanwhile
// is not found there, so the goroutine looks again.
func TestGivenUpWhileItsListIsInHand(t *testing.T) {
	needsProbe(t)
	for _, asked := range []bool{false, true} {
		r := newResource(t, 0)
		var stays, leaves, writer, behind Place
		for _, p := range []*Place{&stays, &leaves} {
			fine(t, p.Request(r, Read))
			fine(t, p.Acquire(t.Context()))
		}
		fine(t, writer.Request(r, Write))
		if err := writer.Acquire(ended()); err == nil {
			t.Fatal("a writer beside readers")
		}
		if asked {
			fine(t, writer.Notify(func() { t.Error("told of what was taken back") }))
		}
		fine(t, behind.Request(r, Read))
		told := false
		fine(t, behind.Notify(func() { told = true }))
		b := &between{seen: writer.w.word.Load(), do: func() { fine(t, writer.Cancel()) }}
		r.probe = b
		fine(t, leaves.Release())
		if b.do != nil {
			t.Fatal("no goroutine had taken the list")
		}
		if !behind.Granted() || !told {
			t.Fatalf("the reader behind is granted: %t, told: %t", behind.Granted(), told)
		}
		fine(t, behind.Acquire(t.Context()))
		fine(t, behind.Release())
		fine(t, stays.Release())
		if q, c := r.requested.Load(), r.completed.Load(); q != c {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
	}
}

// A writer's release completes the ghost of the next writer, so that the readers before and
// behind the ghost hold together, although none of them has waited.
func TestGhostBetweenReadersThatDoNotWait(t *testing.T) {
	r := newResource(t, 0)
	var holder, first, gone, last Place
	fine(t, holder.Request(r, Write))
	fine(t, first.Request(r, Read))
	fine(t, gone.Request(r, Write))
	fine(t, last.Request(r, Read))
	fine(t, gone.Cancel())
	fine(t, holder.Acquire(t.Context()))
	fine(t, holder.Release())
	if !first.tryAcquire() || !last.tryAcquire() {
		t.Error("a ghost keeps a reader out")
	}
}
