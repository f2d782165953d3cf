package resource

import "testing"

// one is a line for one mirror's requests, so that only the halves are measured.
type one struct{ home *Home }

func (l *one) Request(id ID, _ Mode)      { l.home.Granted(id) }
func (l *one) Renew(_, next ID, _ Mode)   { l.home.Granted(next) }
func (l *one) Release(ID)                 {}
func (l *one) Cancel(ID) bool             { return false }
func (l *one) Alone(ID) bool              { return false }
func (l *one) Abort()                     {}
func (s *solo) Granted(_ ID, stamp Stamp) { s.fence = stamp.Fence }
func (s *solo) Ended(ID, error)           {}
func (s *solo) WriteLost(error)           {}

// solo is a place without others.
type solo struct{ fence uint64 }

// step returns the step of a remote pair: renewal, home, grant, mirror.
func step(tb testing.TB, size int, mode Mode, wrote bool) func() {
	ledger, err := NewLedger(LedgerOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	line, place := new(one), new(solo)
	if line.home, err = NewHome(line, &testMemory{make([]byte, size)}, ledger, HomeOptions{}); err != nil {
		tb.Fatal(err)
	}
	mirror, err := NewMirror(place, &testMemory{}, MirrorOptions{Node: 1})
	if err != nil {
		tb.Fatal(err)
	}
	there, err := mirror.Request(1, mode, nil)
	var back []Message
	exchange := func() {
		if err == nil {
			back, err = line.home.Step(&there[0], back[:0])
		}
		if err == nil {
			there, err = mirror.Step(&back[0], there[:0])
		}
		if err != nil || len(back) != 1 || len(there) != 0 {
			tb.Fatalf("%d messages back, %d there: %v", len(back), len(there), err)
		}
	}
	exchange()
	id := ID(1)
	return func() {
		there, err = mirror.Renew(Access{ID: id, Fence: place.fence, Wrote: wrote}, 3-id, mode, there[:0])
		id = 3 - id
		exchange()
	}
}

// BenchmarkRemotePair measures what both halves cost for an iteration of a remote pair,
// without the line and the transport.
func BenchmarkRemotePair(b *testing.B) {
	for _, c := range []struct {
		name  string
		size  int
		mode  Mode
		wrote bool
	}{{"read", 64, Read, false}, {"write", 64, Write, true}, {"write 64 KiB", 64 << 10, Write, true}} {
		b.Run(c.name, func(b *testing.B) {
			next := step(b, c.size, c.mode, c.wrote)
			b.ReportAllocs()
			for b.Loop() {
				next()
			}
		})
	}
}

// An iteration of a remote pair is one message there and one back, and allocates
// nothing.
func TestRemotePairAllocatesNothing(t *testing.T) {
	next := step(t, 64, Write, true)
	next()
	if n := testing.AllocsPerRun(100, next); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
