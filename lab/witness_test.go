package lab

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

// TestWitness lets holders come and go: w2 is rank 2 that writes and comes, W2 goes; r and R read.
func TestWitness(t *testing.T) {
	for _, c := range []struct {
		turns  string
		broken int // the place of the turn that is found out, -1 if none is
	}{
		{"w0W0w1W1w1W1", -1},
		{"r0r1R0r2R1R2w0W0r1R1", -1},
		{"w0w1", 1},
		{"w0r1", 1},
		{"r1w0R1", 2},   // the reader finds a writer when it goes
		{"r1w0W0R1", 3}, // or that one has been there
		{"r1r2w0W0R2", 4},
	} {
		w := NewWitness(make([]uint64, WitnessWords(3)))
		came := map[rma.Rank]uint64{}
		broken := -1
		for i := 0; i < len(c.turns) && broken < 0; i += 2 {
			p, err := rma.Rank(c.turns[i+1]-'0'), error(nil)
			switch c.turns[i] {
			case 'w', 'r':
				_, came[p], err = w.enter(1, p, c.turns[i] == 'w')
			default:
				err = w.leave(1, p, c.turns[i] == 'W', came[p])
			}
			if found := new(ExclusionError); errors.As(err, &found) {
				broken = i / 2
				if found.Rank != p {
					t.Errorf("%s: rank %d found it, want %d", c.turns, found.Rank, p)
				}
			}
		}
		if broken != c.broken {
			t.Errorf("%s: turn %d is found out, want %d", c.turns, broken, c.broken)
		}
	}
}

func TestWitnessKnowsTheLastWriter(t *testing.T) {
	w := NewWitness(make([]uint64, WitnessWords(1)))
	last, changes, err := w.enter(0, 2, true)
	if last != -1 || err != nil || w.leave(0, 2, true, changes) != nil {
		t.Fatalf("the first one follows rank %d: %v", last, err)
	}
	if last, _, err = w.enter(0, 1, false); last != 2 || err != nil {
		t.Errorf("the next one follows rank %d (%v), want 2", last, err)
	}
}
