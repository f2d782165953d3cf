package queue

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
)

// A writer that fails leaves the bytes of the last commit, whatever it did with the
// bytes.
func TestUndo(t *testing.T) {
	writable := func(t *testing.T, w *Place) []byte {
		b, err := w.Writable()
		fine(t, err)
		return b
	}
	for name, change := range map[string]func(t *testing.T, w *Place){
		"writes": func(t *testing.T, w *Place) { clear(writable(t, w)) },
		"writes twice": func(t *testing.T, w *Place) {
			writable(t, w)[0] = 8
			writable(t, w)[1] = 9
		},
		"names what it changed first": func(t *testing.T, w *Place) {
			fine(t, w.Dirty(Range{Len: 1}))
			clear(writable(t, w))
		},
		"grows": func(t *testing.T, w *Place) {
			fine(t, w.Resize(64<<10))
			writable(t, w)[0] = 8
		},
		"grows after it wrote": func(t *testing.T, w *Place) {
			writable(t, w)[0] = 8
			fine(t, w.Resize(64<<10))
		},
		"shrinks": func(t *testing.T, w *Place) {
			fine(t, w.Resize(8))
			writable(t, w)[0] = 8
		},
		"shrinks to nothing": func(t *testing.T, w *Place) { fine(t, w.Resize(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			n := new(network) // no other node takes part
			for _, pages := range []*FaultPages{nil, new(FaultPages)} {
				if pages != nil && runtime.GOOS != "linux" {
					continue // there are no fault pages
				}
				r, err := NewWith("r", 16, Options{Undo: true, FaultPages: pages})
				fine(t, err)
				last := bytes.Repeat([]byte{5}, 16)
				for _, last[0] = range []byte{1, 2} { // each commit forgets the image before
					w := taken(t, n, r, Write)
					copy(writable(t, w), last)
					fine(t, w.Release())
				}
				w := taken(t, n, r, Write)
				change(t, w)
				fine(t, w.Abandon(errFire))
				p := taken(t, n, r, Read)
				b, err := p.Bytes()
				fine(t, err)
				if !bytes.Equal(b, last) || p.Version() != 2 || !errors.Is(p.Prior(), ErrPriorHolderLost) {
					t.Errorf("fault pages %t: version %d has %d bytes, %v, prior %v, want version 2, %v", pages != nil, p.Version(), len(b), b[:min(len(b), 16)], p.Prior(), last)
				}
				fine(t, p.Release())
				fine(t, r.Close())
			}
		})
	}
}

// A before-image reuses its memory.
func TestUndoAllocatesOnce(t *testing.T) {
	needsOrdinaryBuild(t)
	r, err := NewWith("r", 4096, Options{Undo: true})
	fine(t, err)
	var w Place
	fails := false
	write := func() {
		fine(t, w.Request(r, Write))
		fine(t, w.Acquire(t.Context()))
		if _, err := w.Writable(); err != nil {
			t.Fatal(err)
		}
		if fails = !fails; fails {
			fine(t, w.Abandon(errFire))
		} else {
			fine(t, w.Release())
		}
	}
	if n := testing.AllocsPerRun(100, write); n != 0 {
		t.Errorf("%v allocations for each access", n)
	}
}
