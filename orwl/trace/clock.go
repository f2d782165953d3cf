package trace

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// greeting is what a node says to compare clocks. Times are by its own clock.
type greeting struct {
	Machine string        // nodes with the same have one monotonic clock; "" with none
	Zero    time.Duration // the time of the machine's clock when the node's clock shows 0
	Gave    time.Duration // when it gives this to be gathered
	Got     time.Duration // when it got what was gathered in the round before
}

// clockRounds is how often nodes greet each other.
const clockRounds = 8

// MeetClocks compares the clocks of all nodes with node 0's: a clock for each node. Every node calls it, with its own
// clock, which is monotonic.
func MeetClocks(ctx context.Context, clock func() time.Duration, rt *orwl.Runtime) ([]Clock, error) {
	machine, zero := zeroOf(clock)
	rounds := make([][]*greeting, 0, clockRounds)
	got := none
	for range clockRounds {
		blob, err := json.Marshal(greeting{Machine: machine, Zero: zero, Gave: clock(), Got: got})
		if err != nil {
			return nil, err
		}
		all, err := rt.Gather(ctx, "trace clocks", blob)
		if err != nil {
			return nil, err
		}
		got = clock()
		round := make([]*greeting, len(all))
		for node, blob := range all {
			if blob == nil {
				continue
			}
			if err := json.Unmarshal(blob, &round[node]); err != nil {
				return nil, fmt.Errorf("of node %d: %w", node, err)
			}
		}
		rounds = append(rounds, round)
	}
	return compareClocks(rounds), nil
}

// zeroOf is what the machine's monotonic clock shows when clock shows 0. clock is monotonic,
// too. The zeros of two processes can be compared if both name the same machine. The machine
// is "" if it has no monotonic clock that processes share. The calendar is not such a clock:
// it may be set in the middle of a run.
//
// The machine's clock is read between two readings of clock, and the pair that is
// closest to each other counts.
func zeroOf(clock func() time.Duration) (machine string, zero time.Duration) {
	machine = machineName()
	if machine == "" {
		return "", 0
	}
	closest := time.Duration(math.MaxInt64)
	for range 16 {
		before := clock()
		now, ok := monotonic()
		after := clock()
		if !ok {
			return "", 0
		}
		if after-before < closest {
			closest, zero = after-before, now-before-(after-before)/2
		}
	}
	return machine, zero
}

// compareClocks compares the nodes' clocks with node 0's. Node 0 has a node's message before
// it gets the result of the gathering, and the node has node 0's message before it gets the
// result. So
//
//	node's gave - node 0's got  ≤  offset of the node's clock  ≤  node's got - node 0's gave
//
// in each round, and in all of them together.
func compareClocks(rounds [][]*greeting) []Clock {
	if len(rounds) == 0 {
		return nil
	}
	clocks := make([]Clock, len(rounds[0]))
	for node := range clocks {
		clocks[node] = Clock{Node: node, Shared: node == 0}
		first, its := rounds[0][0], rounds[0][node]
		if node == 0 || first == nil || its == nil {
			continue
		}
		if its.Machine != "" && its.Machine == first.Machine {
			clocks[node].Shared, clocks[node].Offset = true, its.Zero-first.Zero
			continue
		}
		least, most := time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
		for k := 1; k < len(rounds); k++ {
			// A node says in this round when it got the result of the round before.
			gave0, gave := rounds[k-1][0], rounds[k-1][node]
			got0, got := rounds[k][0], rounds[k][node]
			if gave0 == nil || gave == nil || got0 == nil || got == nil {
				continue
			}
			least = max(least, gave.Gave-got0.Got)
			most = min(most, got.Got-gave0.Gave)
		}
		if least > most || least == math.MinInt64 {
			continue
		}
		// The offset takes the node's times to node 0's.
		clocks[node].Offset, clocks[node].Error = -(least + (most-least)/2), (most-least+1)/2
	}
	return clocks
}

// Gather makes one trace of what all nodes have recorded, by node 0's clock. Every node
// calls it after its run; node 0 gets the trace, the others nil.
func (r *Recorder) Gather(ctx context.Context, rt *orwl.Runtime) (*Trace, error) {
	own := r.Trace()
	if rt.Nodes() == 1 {
		return own, nil
	}
	clocks, err := MeetClocks(ctx, r.o.Clock, rt)
	if err != nil {
		return nil, fmt.Errorf("trace: clocks of the nodes: %w", err)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(own); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	all, err := gatherMuch(ctx, rt, b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("trace: recordings of the nodes: %w", err)
	}
	if rt.Node() != 0 {
		return nil, nil
	}
	return join(all, clocks)
}

// join makes one trace of several.
func join(all [][]byte, clocks []Clock) (*Trace, error) {
	t := &Trace{Clocks: clocks}
	first := true
	for node, blob := range all {
		if len(blob) == 0 {
			continue
		}
		var one Trace
		if err := gob.NewDecoder(bytes.NewReader(blob)).Decode(&one); err != nil {
			return nil, fmt.Errorf("trace: what node %d has recorded: %w", node, err)
		}
		by := clocks[node].Offset
		for i := range one.Tracks {
			one.Tracks[i].delay(by)
		}
		if first {
			t.From, t.To, first = one.From+by, one.To+by, false
		}
		t.From, t.To = min(t.From, one.From+by), max(t.To, one.To+by)
		t.Tracks = append(t.Tracks, one.Tracks...)
	}
	return t, nil
}

// piece is how much of a recording each gathering brings.
const piece = 1 << 20

// gatherMuch is Runtime.Gather of as much as there is, for node 0 alone: the others get
// pieces, and drop them.
func gatherMuch(ctx context.Context, rt *orwl.Runtime, blob []byte) ([][]byte, error) {
	all := make([][]byte, rt.Nodes())
	for more := true; more; {
		now := blob[:min(len(blob), piece)]
		blob = blob[len(now):]
		last := byte(0)
		if len(blob) == 0 {
			last = 1
		}
		got, err := rt.Gather(ctx, "trace", append([]byte{last}, now...))
		if err != nil {
			return nil, err
		}
		more = false
		for node, part := range got {
			if len(part) == 0 {
				continue
			}
			more = more || part[0] == 0
			if rt.Node() == 0 {
				all[node] = append(all[node], part[1:]...)
			}
		}
	}
	return all, nil
}
