package lane

import "testing"

// TestDesk plays the desk: each line is a step, and whether an answer with so many bytes
// on their way would be written at once.
func TestDesk(t *testing.T) {
	var d desk
	for i, c := range []struct {
		step   string
		next   uint64
		kept   int
		direct bool
	}{
		{"", 0, 0, false},        // nothing was received: it is no answer
		{"received", 0, 0, true}, // it is
		{"received", 0, directUpTo, true},
		{"", 0, directUpTo + 1, false}, // it could block
		{"begin", 2, 0, false},         // a goroutine writes
		{"received", 0, 0, false},      // still
		{"end", 0, 0, true},
		{"writer", 3, 0, false},
		{"end", 0, 0, false}, // and the turn is over
		{"received", 0, 0, true},
		{"writer", 5, 0, false}, // two frames in one write: others have much to say
		{"received", 0, 0, false},
		{"end", 0, 0, false},
		{"begin", 8, 0, false}, // only the writer learns
		{"end", 0, 0, false},
		{"writer", 9, 0, false}, // one frame again
		{"end", 0, 0, false},
		{"received", 0, 0, true},
	} {
		switch c.step {
		case "received":
			d.received()
		case "begin":
			d.begin(c.next, false)
		case "writer":
			d.begin(c.next, true)
		case "end":
			d.end()
		}
		if got := d.direct(c.kept); got != c.direct {
			t.Errorf("step %d, %q, %d bytes on their way: direct is %t, want %t", i, c.step, c.kept, got, c.direct)
		}
	}
}
