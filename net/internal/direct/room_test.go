package direct

import (
	"testing"
	"unsafe"

	"github.com/orwl/go-orwl/net/rma"
)

// A room is a cache line: no less, or two ranks share one; no more, or a
// hand-over touches two.
func TestRoomIsALine(t *testing.T) {
	if size := unsafe.Sizeof(Room{}); size != 64 {
		t.Errorf("a room has %d bytes, want 64", size)
	}
}

// TestRoomConcerns asks a zeroed room, one that waits, and one that others
// watch, about the word awaited and about others.
func TestRoomConcerns(t *testing.T) {
	const word = rma.Disp(7)
	asleep := func(r *Room) {
		r.expect(3, word, rma.Is(1))
		r.doze()
	}
	for name, c := range map[string]struct {
		prepare func(r *Room)
		want    map[rma.Disp]bool
	}{
		"zeroed":  {func(*Room) {}, map[rma.Disp]bool{0: false, word: false}},
		"waits":   {asleep, map[rma.Disp]bool{0: false, word: true, word + watchers: false}},
		"watched": {func(r *Room) { r.Watch.of(word).Add(1) }, map[rma.Disp]bool{0: false, word: true, word + watchers: true}},
		"woken": {func(r *Room) {
			asleep(r)
			if !r.Awaken() || r.Awaken() {
				t.Error("not woken once")
			}
		}, map[rma.Disp]bool{0: false, word: false}},
	} {
		r := new(Room)
		c.prepare(r)
		for disp, want := range c.want {
			if got := r.concerns(disp); got != want {
				t.Errorf("%s: a change at %d concerns somebody: %v, want %v", name, disp, got, want)
			}
		}
	}
}
