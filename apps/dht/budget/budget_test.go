package budget

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"testing"
)

var page = os.Getpagesize()

// sound is what is wrong with the counts of a budget.
func (b *Budget) sound() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken, idle := 0, 0
	for _, size := range b.buffers {
		taken += size
	}
	for size, buffers := range b.free {
		idle += size * len(buffers)
	}
	switch {
	case taken != b.taken || idle != b.idle:
		return fmt.Errorf("%d bytes are taken and %d idle; counted are %d and %d", taken, idle, b.taken, b.idle)
	case b.keys < 0 || b.held < 0 || b.rested < 0 || b.rested > b.idle:
		return fmt.Errorf("keys %d, held %d, rested %d of %d", b.keys, b.held, b.rested, b.idle)
	case b.keys+b.taken+b.held+b.idle > b.limit:
		return fmt.Errorf("keys %d, taken %d, held %d, idle %d: more than %d", b.keys, b.taken, b.held, b.idle, b.limit)
	case b.idle > b.limit/idleShare:
		return fmt.Errorf("%d bytes are idle, of %d", b.idle, b.limit)
	}
	return nil
}

// TestNeverBeyond takes, gives, holds, and resizes at random. The limit is never passed, each refusal is right, and
// in the end nothing is counted.
func TestNeverBeyond(t *testing.T) {
	const limit, volumes = 8 << 20, 4
	b := New(limit)
	region, err := b.Reserve(volumes, limit)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Volume
	for range volumes {
		v, err := region.Volume(page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var buffers [][]byte
	held, refused := 0, 0
	for step := range 5000 {
		u := b.Usage()
		switch r.IntN(8) {
		case 0, 1:
			n := 1 + r.IntN(1<<(10+r.IntN(12)))
			buffer := b.Take(n)
			if buffer == nil {
				refused++
				if u.Keys+u.Taken+Sized(n) <= limit {
					t.Fatalf("step %d: %d bytes are refused with %+v", step, n, u)
				}
				continue
			}
			if len(buffer) < n {
				t.Fatalf("step %d: %d bytes, want %d", step, len(buffer), n)
			}
			buffer[0], buffer[n-1] = 1, 2
			buffers = append(buffers, buffer)
		case 2, 3:
			if len(buffers) > 0 {
				i := r.IntN(len(buffers))
				b.Give(buffers[i][:r.IntN(len(buffers[i]))])
				buffers[i] = buffers[len(buffers)-1]
				buffers = buffers[:len(buffers)-1]
			}
		case 4:
			n := r.IntN(64 << 10)
			if ok := b.Hold(n); ok {
				held += n
			} else if refused++; u.Keys+u.Taken+2*n <= limit {
				t.Fatalf("step %d: holding %d bytes is refused with %+v", step, n, u)
			}
		case 5:
			b.Drop(held)
			held = 0
		case 6:
			v, size := all[r.IntN(volumes)], r.IntN(limit/2)
			before := len(v.Bytes())
			if err := v.Resize(size); err != nil {
				refused++
				more := pageUp(size) - pageUp(before)
				if !errors.Is(err, ErrNoRoom) || len(v.Bytes()) != before || u.Keys+more+max(u.Taken, limit/spareShare) <= limit {
					t.Fatalf("step %d: %d to %d bytes: %v, with %+v", step, before, size, err, u)
				}
			} else if u := b.Usage(); size > before && u.Keys+limit/spareShare > limit {
				t.Fatalf("step %d: volumes left clients less than their share: %+v", step, u)
			}
		case 7:
			b.Rest()
		}
		if err := b.sound(); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	if refused < 50 {
		t.Errorf("only %d times there was no room", refused)
	}
	for _, buffer := range buffers {
		b.Give(buffer)
	}
	b.Drop(held)
	for _, v := range all {
		if err := v.Resize(0); err != nil {
			t.Error(err)
		}
	}
	b.Trim()
	if u := b.Usage(); u != (Usage{Limit: limit}) {
		t.Errorf("in the end there are %+v", u)
	}
}

// TestVolume grows and shrinks a volume beside a plain slice: what fits is kept, and what is new is zero.
func TestVolume(t *testing.T) {
	const most = 6 << 20 // more than two large pages
	b := New(64 << 20)
	region, err := b.Reserve(2, most)
	if err != nil {
		t.Fatal(err)
	}
	v, err := region.Volume(10000)
	if err != nil {
		t.Fatal(err)
	}
	neighbour, err := region.Volume(8)
	if err != nil {
		t.Fatal(err)
	}
	copy(neighbour.Bytes(), "01234567")
	want := make([]byte, 10000)
	r := rand.New(rand.NewPCG(3, 4))
	for range 120 {
		size := r.IntN(1 << r.IntN(23))
		if size > most {
			continue
		}
		if err := v.Resize(size); err != nil {
			t.Fatal(err)
		}
		want = append(want[:min(size, len(want))], make([]byte, max(0, size-len(want)))...)
		if !bytes.Equal(v.Bytes(), want) {
			t.Fatalf("of %d bytes, some differ", size)
		}
		for range 10 {
			if size > 0 {
				i := r.IntN(size)
				v.Bytes()[i], want[i] = 7, 7
			}
		}
		if n := b.Usage().Keys; n != pageUp(size)+page {
			t.Fatalf("%d bytes are counted for %d", n, size)
		}
	}
	if err := v.Resize(most + page); err == nil {
		t.Error("a volume is larger than its region allows")
	}
	if string(neighbour.Bytes()) != "01234567" {
		t.Errorf("the neighbour has %q", neighbour.Bytes())
	}
	if _, err := region.Volume(8); err == nil {
		t.Error("there is a third volume of two")
	}
}

// TestIdle uses an idle buffer again, drops it when something else needs its room, and gives it back when it was
// not needed for a while.
func TestIdle(t *testing.T) {
	const limit = 64 << 20
	b := New(limit)
	first := b.Take(1 << 20)
	first[0] = 7
	b.Give(first)
	if u := b.Usage(); u.Idle != 1<<20 || u.Taken != 0 {
		t.Errorf("%+v, want an idle buffer", u)
	}
	if again := b.Take(1<<20 - 1); &again[0] != &first[0] || again[0] != 7 {
		t.Error("an idle buffer is not used again as it is")
	} else {
		b.Give(again)
	}
	b.Rest() // it was needed since the beginning
	if u := b.Usage(); u.Idle == 0 {
		t.Errorf("%+v, want an idle buffer for a while", u)
	}
	b.Rest()
	if u := b.Usage(); u.Idle != 0 {
		t.Errorf("%+v, want no idle buffer", u)
	}
	b.Give(b.Take(1 << 20))
	all := b.Take(limit)
	if u := b.Usage(); all == nil || u.Idle != 0 || u.Taken != limit {
		t.Errorf("%+v, want all taken", u)
	}
	freed := b.Freed()
	if b.Hold(1) || b.Take(1) != nil || b.Calm() {
		t.Error("there is more than all")
	}
	b.Owe(1)
	if u := b.Usage(); u.Taken != limit+2 {
		t.Errorf("%+v, want two bytes beyond the limit", u)
	}
	b.Drop(1)
	<-freed
	b.Give(all)
	if u := b.Usage(); u != (Usage{Limit: limit}) || !b.Calm() {
		t.Errorf("%+v, want nothing: such a buffer is too large to be idle", u)
	}
	b.Give(make([]byte, 1<<20)) // no buffer of b
	if u := b.Usage(); u != (Usage{Limit: limit}) {
		t.Errorf("%+v after somebody else's buffer", u)
	}
}

// TestSized has sizes of whole pages that are at most a quarter larger than what is asked for, and that are sizes
// themselves.
func TestSized(t *testing.T) {
	for n := 1; n < 1<<26; n += 1 + n/7 {
		size := Sized(n)
		if size < n || size%4096 != 0 || size > leastBuffer && size >= n+n/4+1 || Sized(size) != size {
			t.Errorf("%d bytes have a buffer of %d", n, size)
		}
	}
}

// TestGovern has Go's limit follow what volumes and buffers leave.
func TestGovern(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	const limit = 256 << 20
	b := New(limit)
	b.Govern()
	whole := debug.SetMemoryLimit(-1)
	if whole != min(before, limit+Beside-ofCode) {
		t.Errorf("Go's limit is %d", whole)
	}
	buffer := b.Take(128 << 20)
	left := debug.SetMemoryLimit(-1)
	b.Give(buffer)
	if want := map[bool]int64{true: whole - 128<<20, false: whole}[outside]; left != want {
		t.Errorf("with half taken, Go's limit is %d, want %d", left, want)
	}
	if again := debug.SetMemoryLimit(-1); again != whole {
		t.Errorf("Go's limit is %d at last, want %d", again, whole)
	}
}

// TestNil has no limit.
func TestNil(t *testing.T) {
	var b *Budget
	if buffer := b.Take(100); len(buffer) != 100 || !b.Hold(1<<40) || !b.Calm() || b.Usage() != (Usage{}) || b.Freed() != nil {
		t.Error("a nil budget has a limit")
	}
	b.Give(make([]byte, 1<<20))
	b.Owe(1)
	b.Drop(1)
	b.Rest()
	b.Trim()
}

// TestOwners has goroutines that take and give at once. Each finds in its buffer what it wrote.
func TestOwners(t *testing.T) {
	b := New(4 << 20)
	var all sync.WaitGroup
	for who := range byte(8) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(who), 5))
			for range 500 {
				buffer := b.Take(1 + r.IntN(1<<19))
				if buffer == nil {
					continue
				}
				for i := 0; i < len(buffer); i += 4096 {
					buffer[i] = who
				}
				for i := 0; i < len(buffer); i += 4096 {
					if buffer[i] != who {
						t.Errorf("%d has the buffer of %d", buffer[i], who)
						return
					}
				}
				b.Give(buffer)
			}
		})
	}
	all.Wait()
	if err := b.sound(); err != nil {
		t.Error(err)
	}
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%+v, want nothing taken", u)
	}
}
