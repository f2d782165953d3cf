package queue

import (
	"bytes"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// housed is the smallest size that uses an Allocator.
const housed = 64 << 10

// alignedBytes is memory for any type.
func alignedBytes(size int) []byte {
	var b coherence.Buffer
	b.Init(size)
	return b.Bytes()
}

// books is an Allocator that records what it has given.
type books struct {
	t     *testing.T
	given map[*byte]int
}

func (b *books) Make(size int) []byte {
	memory := alignedBytes(size)
	b.given[&memory[0]] = size
	return memory
}

func (b *books) Free(memory []byte) {
	if size, given := b.given[&memory[0]]; !given || size != len(memory) {
		b.t.Errorf("%d bytes are freed, %d were given (%t)", len(memory), size, given)
	}
	delete(b.given, &memory[0])
}

// Large bytes lie in the allocator's memory, at the home and at the mirror, for every
// size and after every change of size, as soon as a mirror has written. The old memory is given back.
func TestSiteMemoryOfAllocator(t *testing.T) {
	all := &books{t, make(map[*byte]int)}
	n := newNetwork(2, SiteOptions{Memory: all})
	filled, err := New("r", 2*housed)
	fine(t, err)
	filled.buffer.Bytes()[9] = 9
	mirror, err := New("r", 2*housed)
	fine(t, err)
	fine(t, n.sites[0].Home(filled))
	fine(t, n.sites[1].Mirror(mirror, 0))
	if len(all.given) != 1 {
		t.Errorf("%d pieces of memory are in use before a mirror has asked for the bytes, want its own", len(all.given))
	}
	r := []*Resource{filled, mirror}
	want := make([]byte, 2*housed)
	want[9] = 9
	for turn, size := range []int{2 * housed, 3 * housed, housed, housed - 8, 0, 8, housed, 4 * housed, 8, 2 * housed} {
		for at := range r {
			var p Place
			fine(t, p.Request(r[at], Write))
			n.settle(t)
			fine(t, p.Acquire(t.Context()))
			b, err := p.Bytes()
			fine(t, err)
			if !bytes.Equal(b, want) {
				t.Fatalf("turn %d: node %d finds other bytes", turn, at)
			}
			if at == turn%2 {
				fine(t, p.Resize(size))
				want = append(want[:min(size, len(want))], make([]byte, max(0, size-len(want)))...)
			}
			b, err = p.Writable()
			fine(t, err)
			for i := at; i < len(b); i += 1 + len(b)/50 {
				b[i] += byte(turn + 1)
				want[i] += byte(turn + 1)
			}
			fine(t, p.Release())
			n.settle(t)
		}
		large := 0
		for _, r := range r {
			if len(r.buffer.Bytes()) >= housed {
				large++
				if all.given[&r.buffer.Bytes()[0]] != len(r.buffer.Bytes()) {
					t.Errorf("%d bytes are not the allocator's", len(r.buffer.Bytes()))
				}
			}
		}
		if len(all.given) != large {
			t.Errorf("turn %d: %d pieces of memory are in use, want %d", turn, len(all.given), large)
		}
	}
}

// Fault pages stay in their own memory.
func TestSiteMemoryOfFaultPages(t *testing.T) {
	all := &books{t, make(map[*byte]int)}
	n := newNetwork(2, SiteOptions{Memory: all})
	r, err := NewWith("r", 2*housed, Options{FaultPages: new(FaultPages)})
	if errors.Is(err, ErrNoFaultPages) {
		t.Skip(err)
	}
	fine(t, err)
	defer r.Close()
	fine(t, n.sites[0].Home(r))
	if len(all.given) > 0 {
		t.Error("fault pages were moved")
	}
}

// A mirror drops bytes that it copied from the memory of a home, if the home has given
// the mirror up meanwhile.
func TestDeliverSpoilt(t *testing.T) {
	for _, early := range []bool{false, true} {
		n := newNetwork(2, SiteOptions{})
		r := n.share(t, "r", 16, 0, Options{})
		var first, second Place
		fine(t, first.Request(r[1], Read))
		n.settle(t)
		fine(t, first.Acquire(t.Context()))
		fine(t, first.Release())
		n.settle(t)
		var w Place
		fine(t, w.Request(r[0], Write))
		fine(t, w.Acquire(t.Context()))
		b, err := w.Writable()
		fine(t, err)
		b[0] = 1
		fine(t, second.Request(r[1], Read))
		n.settle(t)
		fine(t, w.Release())
		l := n.busy()[0]
		m := n.lanes[l][0]
		header := m.header
		if early {
			later := coherence.Message{}
			fine(t, coherence.ParseInto(header, &later))
			later.Seq += 2
			header = coherence.AppendHeader(nil, &later)
		}
		_, err = n.sites[1].Deliver(0, header, Bulk{Bytes: m.bulk, Valid: func() bool { return false }})
		if !errors.Is(err, ErrOtherLife) {
			t.Errorf("early: %t: bytes that have changed are taken: %v", early, err)
		}
		if second.Granted() {
			t.Errorf("early: %t: bytes that have changed are granted", early)
		}
		if n.sites[1].budget.Used(0) != 0 {
			t.Errorf("%d bytes are kept", n.sites[1].budget.Used(0))
		}
		// The loss that follows ends the waiting requests.
		n.sites[1].Lost(0, errors.New("it has given this node up"))
		if err := second.Acquire(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("early: %t: %v", early, err)
		}
	}
}
