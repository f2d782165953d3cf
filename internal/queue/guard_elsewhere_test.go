package queue

import (
	"encoding/binary"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// A game of sides may have ranks on other nodes: the last ones, one node each. Their relaxed
// accesses go by their own windows to the memory of the FIFO's rank, which is the home's. No
// operation of theirs is flushed for them.
//
// The FIFO's rank has nothing else to do, so it makes the home's calls of Reach.Aside, one
// after another.

// aside is the work of the FIFO's rank.
type aside struct {
	bell  rma.Disp // counts what there is to do, and the ranks that have ended
	queue []func()
}

// reach makes t's resource one with relaxed access from other nodes, and a resource for each
// of them.
func (t *match) reach(f *sim.Fabric, ranks int) (*Reach, error) {
	home := rma.Rank(ranks)
	w, err := f.Window(home)
	if err != nil {
		return nil, err
	}
	if t.aside.bell, err = f.Alloc(1); err != nil {
		return nil, err
	}
	root := new(rma.Disp)
	for p := ranks - t.elsewhere; p < ranks; p++ {
		r, err := New("r", len(t.r.buffer.Bytes()))
		if err != nil {
			return nil, err
		}
		own, err := f.Window(rma.Rank(p))
		if err != nil {
			return nil, err
		}
		at := &Reach{Window: &ownWindow{own, t, root}, Home: home, Ask: t.r.RelaxedWaits}
		if err := r.allow(RelaxedOptions{Guard: func() (Guard, error) { return Guard{Relaxed: t, Reach: at}, nil }}); err != nil {
			return nil, err
		}
		t.others = append(t.others, r)
	}
	return &Reach{Window: &homeWindow{w, root}, Home: home, Aside: t.later}, nil
}

// later has the FIFO's rank call f.
func (t *match) later(f func()) {
	t.aside.queue = append(t.aside.queue, f)
	t.ring()
}

func (t *match) ring() {
	w := t.at
	w.FetchOp(rma.Rank(len(t.scripts)), t.aside.bell, rma.Sum, 1)
	t.at = w
}

// serve is the body of the FIFO's rank.
func (t *match) serve(w *sim.Window) error {
	for heard, ended := uint64(0), 0; ended < len(t.scripts); {
		v, err := w.Await(background, w.Rank(), t.aside.bell, rma.IsNot(heard))
		if err != nil {
			return err
		}
		t.at = w
		for ; heard != v; heard++ {
			if len(t.aside.queue) == 0 {
				ended++
				continue
			}
			f := t.aside.queue[0]
			t.aside.queue = t.aside.queue[1:]
			f()
			t.at = w
		}
	}
	return nil
}

// of is the resource as rank p has it.
func (t *match) of(p rma.Rank) *Resource {
	if i := int(p) - (len(t.scripts) - t.elsewhere); i >= 0 && t.elsewhere > 0 {
		return t.others[i]
	}
	return t.r
}

// homeWindow attaches memory to the FIFO's rank. There is no step in that.
type homeWindow struct {
	rma.Window
	root *rma.Disp
}

func (h *homeWindow) Put(_ rma.Rank, _ rma.Disp, v uint64) { *h.root = rma.Disp(v) }
func (h *homeWindow) Flush(rma.Rank)                       {}

// ownWindow is the window of the rank that runs.
type ownWindow struct {
	rma.Window
	t    *match
	root *rma.Disp
}

func (o *ownWindow) do(f func()) {
	w := o.t.at
	f()
	o.t.at = w
}

func (o *ownWindow) Get(rma.Rank, rma.Disp) uint64 { return uint64(*o.root) }

func (o *ownWindow) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	o.do(func() { o.Window.GetBytes(target, disp, dst) })
}

func (o *ownWindow) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	o.do(func() { o.Window.PutBytes(target, disp, src) })
}

func (o *ownWindow) Flush(target rma.Rank) { o.do(func() { o.Window.Flush(target) }) }

// see checks that an access finds the last write, all of it, and has a writer make the next.
func (t *match) see(b []byte, m Mode) error {
	x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
	if x != t.written || y != t.written {
		return fmt.Errorf("the bytes are of write %d and %d, want %d", x, y, t.written)
	}
	if m == Write {
		t.written++
		binary.NativeEndian.PutUint64(b, t.written)
		binary.NativeEndian.PutUint64(b[8:], t.written)
	}
	return nil
}
