package trace

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
)

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
