package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// TestCallsModel lets ranks wait and be answered at random, beside a map.
func TestCallsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var calls engine.Calls
		waits := make(map[rma.Rank]uint64)
		rank := rapid.SampledFrom([]rma.Rank{0, 1, 5, 6, 7, 100, 2000})
		t.Repeat(map[string]func(*rapid.T){
			"expect": func(t *rapid.T) {
				p, number := rank.Draw(t, "rank"), rapid.Uint64Range(1, 5).Draw(t, "number")
				calls.Expect(p, number)
				waits[p] = number
			},
			"answer": func(t *rapid.T) {
				r := wire.Reply{Origin: rank.Draw(t, "rank"), Call: rapid.Uint64Range(0, 5).Draw(t, "number")}
				number, waiting := waits[r.Origin]
				want := waiting && number == r.Call
				if got := calls.Answered(&r); got != want {
					t.Fatalf("%+v is an answer: %t, want %t", r, got, want)
				}
				if want {
					delete(waits, r.Origin)
				}
			},
		})
	})
}
