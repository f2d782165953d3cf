package lease

import (
	"testing"

	"github.com/orwl/go-orwl/net/wire"
)

// TestContact has each step of a contact.
func TestContact(t *testing.T) {
	var c Contact
	wants := func(what string, heard, echoed int64) {
		t.Helper()
		if c.Heard() != heard || c.Echoed() != echoed {
			t.Errorf("%s: heard %d, echoed %d, want %d and %d", what, c.Heard(), c.Echoed(), heard, echoed)
		}
	}
	takes := func(f wire.Beat, now, trip int64, newer, good bool) {
		t.Helper()
		if a, b, d := c.Takes(f, now); a != trip || b != newer || d != good {
			t.Errorf("%+v at %d: %d, %t, %t, want %d, %t, %t", f, now, a, b, d, trip, newer, good)
		}
	}
	if f := c.Says(5); f != (wire.Beat{Sent: 5}) {
		t.Errorf("the first beat is %+v", f)
	}
	takes(wire.Beat{Sent: 70}, 10, 0, false, true)
	wants("a beat without an echo", 10, 0)
	if f := c.Says(13); f != (wire.Beat{Sent: 13, Echo: 70, Held: 3}) {
		t.Errorf("the second beat is %+v", f)
	}
	takes(wire.Beat{Sent: 80, Echo: 13, Held: 4}, 20, 3, true, true)
	wants("an echo", 20, 13)
	takes(wire.Beat{Sent: 90, Echo: 13, Held: 9}, 30, 0, false, true)
	wants("the same echo", 30, 13)
	takes(wire.Beat{Sent: 91, Echo: 5, Held: 9}, 31, 0, false, true)
	wants("an older echo", 31, 13)
	takes(wire.Beat{Sent: 99, Echo: 41}, 40, 0, false, false)
	takes(wire.Beat{Sent: 99, Echo: 1 << 63}, 40, 0, false, false)
	wants("an echo of the future", 31, 13)
	if f := c.Says(41); f.Echo != 91 {
		t.Errorf("it echoes %d, want 91", f.Echo)
	}
	takes(wire.Beat{Sent: 99, Echo: 40, Held: 50}, 40, 0, true, true) // an echo of this moment, and held for too long
	c.Hears(50)
	c.Hears(45)
	wants("a sign of life, and one of before", 50, 40)
	c.Answered(48)
	c.Answered(47)
	wants("an answer, and one of before", 50, 48)
	c.Forgive(7, 60)
	wants("7 are forgiven", 57, 48)
	c.Forgive(100, 60)
	wants("no more is forgiven than there was", 60, 48)
	if at := c.Stalls(easy); at != 448 {
		t.Errorf("it stalls at %d, want 448: 400 after the echo", at)
	}
	c.Touches(60)
	c.Touches(55)
	if at := c.Stalls(easy); at != 460 {
		t.Errorf("it stalls at %d, want 460: 400 after the stream was opened", at)
	}
	c.Answered(61)
	if at := c.Stalls(easy); at != 461 {
		t.Errorf("it stalls at %d, want 461", at)
	}
	if c.Suspected(easy, 860) || !c.Suspected(easy, 861) {
		t.Error("it is not suspected from 861 on")
	}
	if c.Lapsed(easy, 1259) || !c.Lapsed(easy, 1260) {
		t.Error("it has not lapsed from 1260 on")
	}
}

// A node is sure of a peer for a lease from what the peer has answered. A stream that the peer has opened proves nothing: what
// it says may be old.
func TestSure(t *testing.T) {
	var c Contact
	sure := func(now int64, want bool) {
		t.Helper()
		if got := c.Sure(easy, now); got != want {
			t.Errorf("at %d it is sure: %t, want %t", now, got, want)
		}
	}
	c.Hears(5)
	sure(6, false) // its clock has just begun: less than a lease is no proof
	c.Hears(1000)
	c.Answered(1000)
	sure(1001, false)
	c.Takes(wire.Beat{Sent: 7, Echo: 900}, 1100) // an echo of something older
	sure(1100, true)
	sure(easy.LetsGo(900)-1, true)
	sure(easy.LetsGo(900), false)
	c.Proves(2000)
	sure(2001, true)
}
