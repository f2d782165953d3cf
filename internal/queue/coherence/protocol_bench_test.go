package coherence

import "testing"

// step returns the step of a remote pair: renewal, home, grant, mirror. The queue grants at
// once, so that only the halves are measured.
func step(tb testing.TB, size int, mode Mode, wrote bool) func() {
	buffer := new(Buffer)
	buffer.Init(size)
	home := NewHome(buffer, new(Ledger), HomeOptions{Limit: 1 << 30})
	mirror := NewMirror(new(Buffer), MirrorOptions{Node: 1, Incarnation: 1, Limit: 1 << 30})
	var there, back Work
	var fence uint64
	var err error
	var granted [1]int
	exchange := func() {
		if err == nil {
			err = home.Step(&there.Messages[0], &back)
		}
		if err == nil {
			granted[0] = back.Queue[0].Guest
			if back.Queue[0].Kind == Renew {
				granted[0] = back.Queue[0].Next
			}
			home.Granted(granted[:], &back)
			there.Reset()
			err = mirror.Step(&back.Messages[0], &there)
		}
		if err != nil || len(back.Messages) != 1 || len(there.Messages) != 0 || len(there.Events) != 1 {
			tb.Fatalf("%d messages back, %d there: %v", len(back.Messages), len(there.Messages), err)
		}
		fence = there.Events[0].Fence
		there.Reset()
		back.Reset()
	}
	err = mirror.Request(1, mode, nil, &there)
	exchange()
	id := ID(1)
	return func() {
		err = mirror.Renew(Access{ID: id, Fence: fence, Wrote: wrote}, 3-id, mode, nil, &there)
		id = 3 - id
		exchange()
	}
}

// BenchmarkRemotePair measures what both halves cost for an iteration of a remote pair,
// without the queue and the transport.
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
