package main

import (
	"testing"
	"time"
)

// TestHitsAndMisses counts frontiers that a block has announced at 10 and asked for at 40.
func TestHitsAndMisses(t *testing.T) {
	for _, c := range []struct {
		there, asked int
		want         tally
	}{
		{5, 40, tally{Reads: 1, Bytes: 16, Hits: 1}}, // there before it was announced
		{25, 40, tally{Reads: 1, Bytes: 16, Hits: 1, Hidden: 15}},
		{40, 40, tally{Reads: 1, Bytes: 16, Hits: 1, Hidden: 30}},
		{50, 40, tally{Reads: 1, Bytes: 16, Hidden: 30}},
		{50, 10, tally{Reads: 1, Bytes: 16}}, // the block has done nothing meanwhile
	} {
		var got tally
		got.count(16, 10, time.Duration(c.there), time.Duration(c.asked))
		if got != c.want {
			t.Errorf("there at %d, asked for at %d: %+v, want %+v", c.there, c.asked, got, c.want)
		}
	}
}
