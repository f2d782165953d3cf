package queue

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// lockSides is a lock of the simulated fabric. at returns its side for a window.
type lockSides struct {
	at func(rma.Window) locks.RWMutex
}

// newLockSides makes the lock of a name in the table. Without a name it makes a lock of
// a single word: its few steps leave more states to the code under test.
func newLockSides(f *sim.Fabric, name string) (lockSides, error) {
	if name == "" {
		word, err := f.Alloc(1)
		return lockSides{func(w rma.Window) locks.RWMutex { return &oneWord{w, word} }}, err
	}
	spec, ok := locks.ByName(name)
	if !ok {
		return lockSides{}, fmt.Errorf("there is no lock %s", name)
	}
	l, err := spec.New(f, locks.Options{})
	if err != nil {
		return lockSides{}, err
	}
	return lockSides{func(w rma.Window) locks.RWMutex { return l.At(w).(locks.RWMutex) }}, nil
}

// oneWord counts its readers in a word; a writer counts as very many.
type oneWord struct {
	w    rma.Window
	word rma.Disp
}

const aWriter = 1 << 32

func (l *oneWord) acquire(ctx context.Context, none, add uint64) error {
	for {
		v, err := l.w.Await(ctx, 0, l.word, rma.Is(0).Masked(none))
		if err != nil {
			return err
		}
		if l.w.CAS(0, l.word, v, v+add) == v {
			return nil
		}
	}
}

func (l *oneWord) try(none, add uint64) bool {
	v := l.w.Get(0, l.word)
	return v&none == 0 && l.w.CAS(0, l.word, v, v+add) == v
}

func (l *oneWord) Acquire(ctx context.Context) error     { return l.acquire(ctx, ^uint64(0), aWriter) }
func (l *oneWord) AcquireRead(ctx context.Context) error { return l.acquire(ctx, aWriter, 1) }
func (l *oneWord) TryAcquire() bool                      { return l.try(^uint64(0), aWriter) }
func (l *oneWord) TryAcquireRead() bool                  { return l.try(aWriter, 1) }
func (l *oneWord) Release()                              { l.w.FetchOp(0, l.word, rma.Sum, ^uint64(aWriter-1)) }
func (l *oneWord) ReleaseRead()                          { l.w.FetchOp(0, l.word, rma.Sum, ^uint64(0)) }

// Relaxed access: the rank that runs uses its own side.

func (t *match) mine() (locks.RWMutex, func()) {
	w := t.at
	return t.lock.at(w), func() { t.at = w }
}

func (t *match) TryLock() bool {
	l, again := t.mine()
	defer again()
	try, ok := l.(locks.Tryer)
	return ok && try.TryAcquire()
}

func (t *match) TryRLock() bool {
	l, again := t.mine()
	defer again()
	try, ok := l.(locks.ReadTryer)
	return ok && try.TryAcquireRead()
}

func (t *match) LockContext(ctx context.Context) error {
	l, again := t.mine()
	defer again()
	return l.Acquire(ctx)
}

func (t *match) RLockContext(ctx context.Context) error {
	l, again := t.mine()
	defer again()
	return l.AcquireRead(ctx)
}

func (t *match) Unlock() {
	l, again := t.mine()
	defer again()
	l.Release()
}

func (t *match) RUnlock() {
	l, again := t.mine()
	defer again()
	l.ReleaseRead()
}

// proxy is the window of the FIFO's rank. The rank that runs executes each operation,
// and flushes it at once, because another rank may execute the next one.
type proxy struct {
	t    *match
	rank rma.Rank
}

var _ rma.Window = (*proxy)(nil)

func (p *proxy) do(f func(w *sim.Window)) {
	w := p.t.at
	f(w)
	p.t.at = w
}

func (p *proxy) Rank() rma.Rank { return p.rank }

func (p *proxy) Put(target rma.Rank, disp rma.Disp, value uint64) {
	p.do(func(w *sim.Window) { w.Put(target, disp, value); w.Flush(target) })
}

func (p *proxy) Get(target rma.Rank, disp rma.Disp) (v uint64) {
	p.do(func(w *sim.Window) { v = w.Get(target, disp) })
	return v
}

func (p *proxy) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	p.do(func(w *sim.Window) { w.Accumulate(target, disp, op, operand); w.Flush(target) })
}

func (p *proxy) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) (v uint64) {
	p.do(func(w *sim.Window) { v = w.FetchOp(target, disp, op, operand) })
	return v
}

func (p *proxy) CAS(target rma.Rank, disp rma.Disp, old, new uint64) (v uint64) {
	p.do(func(w *sim.Window) { v = w.CAS(target, disp, old, new) })
	return v
}

func (p *proxy) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (v uint64, err error) {
	p.do(func(w *sim.Window) { v, err = w.Await(ctx, target, disp, until) })
	return v, err
}

func (p *proxy) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	p.do(func(w *sim.Window) { w.PutBytes(target, disp, src); w.Flush(target) })
}

func (p *proxy) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	p.do(func(w *sim.Window) { w.GetBytes(target, disp, dst) })
}

func (p *proxy) Flush(target rma.Rank)                { p.do(func(w *sim.Window) { w.Flush(target) }) }
func (p *proxy) FlushAll()                            { p.do(func(w *sim.Window) { w.FlushAll() }) }
func (p *proxy) Pause(n int)                          { p.do(func(w *sim.Window) { w.Pause(n) }) }
func (p *proxy) Attach(words int) (rma.Region, error) { return p.t.at.Attach(words) }
func (p *proxy) Detach(base rma.Disp) error           { return p.t.at.Detach(base) }
func (p *proxy) Err() error                           { return p.t.at.Err() }

// Games and tests go inside by a function.

// ReadRelaxed calls read with the bytes while there is no writer. It does not call it if the resource is poisoned.
func (r *Resource) ReadRelaxed(ctx context.Context, read func(b []byte) error) error {
	in, err := r.Relaxed(ctx, Read)
	if err != nil {
		return err
	}
	defer in.Leave()
	if err := in.unpoisoned("relaxed read"); err != nil {
		return err
	}
	return read(in.Bytes())
}

// WriteRelaxed calls write with the bytes while there is no other reader or writer.
func (r *Resource) WriteRelaxed(ctx context.Context, write func(b []byte) error) (err error) {
	in, err := r.Relaxed(ctx, Write)
	if err != nil {
		return err
	}
	defer in.Leave()
	return write(in.Bytes())
}

// Open is the first relaxed access, and reads nothing. Before the first request it does
// not wait.
func (r *Resource) Open(ctx context.Context) error {
	err := holderOf(ctx).mayRelax(r)
	if err == nil {
		err = r.taken()
	}
	if err == nil {
		var g *guard
		if g, err = r.enterRelaxed(ctx, Read, 0); err == nil {
			g.locks.Relaxed.RUnlock()
			return nil
		}
	}
	return r.relaxedError("open", Read, err)
}
