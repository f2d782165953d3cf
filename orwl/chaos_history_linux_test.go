package orwl

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/orwl/go-orwl/internal/queue"
)

// A history of a resource is linear if its accesses have an order, each somewhere
// between its call and its end, that a register gives, too. Each write of the register
// has a version and a fence. An access whose end is not known may have written, or not.

// deed is an access: what it has seen, if it was granted, and what it has written.
type deed struct {
	token   uint64       // 0 if it reads
	seen    *sighted     // nil: it was not granted, as far as the notes tell
	outcome writeOutcome // of the write
}

type writeOutcome uint8

const (
	wrote writeOutcome = iota
	maybe              // its end is not known
	never              // it was told so
)

// register is a state of the model.
type register struct{ version, value, fence uint64 }

func (s register) step(d deed) []any {
	if d.seen == nil {
		return []any{s}
	}
	o := d.seen
	if o.Version != s.version || o.Value != s.value || o.Fence < s.fence || d.token != 0 && o.Fence == s.fence {
		return nil
	}
	s.fence = o.Fence
	read, written := s, register{s.version + 1, d.token, s.fence}
	switch {
	case d.token == 0, d.outcome == never:
		return []any{read}
	case d.outcome == maybe:
		return []any{read, written}
	}
	return []any{written}
}

var chaosModel = (&porcupine.NondeterministicModel{
	Init:              func() []any { return []any{register{}} },
	Step:              func(s, in, _ any) []any { return s.(register).step(in.(deed)) },
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, _ any) string { d := in.(deed); return fmt.Sprintf("%+v %+v", d, d.seen) },
}).ToModel()

// history is the accesses of a resource, from the notes of the nodes. No node is lost.
func history(notes []said, at int) []porcupine.Operation {
	type key struct {
		by int
		op uint64
	}
	index := make(map[key]int)
	var ops []porcupine.Operation
	for _, n := range notes {
		if n.Op == 0 || n.At0 != at {
			continue
		}
		k := key{n.by, n.Op}
		if n.What == "call" {
			index[k] = len(ops)
			// An access without an end goes on.
			ops = append(ops, porcupine.Operation{ClientId: n.by, Input: deed{token: n.Token, outcome: maybe}, Call: n.At, Return: math.MaxInt64})
			continue
		}
		o := &ops[index[k]]
		d := deed{o.Input.(deed).token, n.Seen, maybe}
		if n.What == "done" {
			o.Return, d.outcome = n.At, wrote
			if n.Verdict != served {
				d.outcome = never
			}
		}
		o.Input = d
	}
	return ops
}

// checkHistory fails the test if a history is not linear.
func checkHistory(t testing.TB, notes []said, at int) {
	t.Helper()
	ops := history(notes, at)
	if got := porcupine.CheckOperationsTimeout(chaosModel, ops, 30*time.Second); got != porcupine.Ok {
		slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, op := range ops {
			t.Logf("%d: %d-%d %s", op.ClientId, op.Call, op.Return, chaosModel.DescribeOperation(op.Input, nil))
		}
		t.Errorf("the history of %s is %s", name(at), got)
	}
}

// The model refuses histories that no correct resource produces.
func TestChaosModelRefuses(t *testing.T) {
	write := func(value, version, fence, token uint64, outcome writeOutcome) deed {
		return deed{token, &sighted{Value: value, Version: version, Fence: fence}, outcome}
	}
	read := func(value, version, fence uint64) deed {
		return deed{0, &sighted{Value: value, Version: version, Fence: fence}, wrote}
	}
	for title, c := range map[string]struct {
		deeds []deed
		want  porcupine.CheckResult
	}{
		"turns":                    {[]deed{write(0, 0, 1, 7, wrote), read(7, 1, 1), write(7, 1, 2, 8, wrote), read(8, 2, 2)}, porcupine.Ok},
		"a write that may be":      {[]deed{write(0, 0, 1, 7, maybe), read(7, 1, 1)}, porcupine.Ok},
		"a write that may not be":  {[]deed{write(0, 0, 1, 7, maybe), read(0, 0, 2)}, porcupine.Ok},
		"not granted":              {[]deed{{7, nil, maybe}, read(0, 0, 0)}, porcupine.Ok},
		"a committed write lost":   {[]deed{write(0, 0, 1, 7, wrote), read(0, 0, 1)}, porcupine.Illegal},
		"a write behind its fence": {[]deed{write(0, 0, 1, 7, never), read(7, 1, 1)}, porcupine.Illegal},
		"too late":                 {[]deed{write(0, 0, 1, 7, maybe), write(0, 0, 2, 8, wrote), read(7, 2, 2)}, porcupine.Illegal},
		"a write by nobody":        {[]deed{{7, nil, maybe}, read(7, 1, 1)}, porcupine.Illegal},
		"a fence twice":            {[]deed{write(0, 0, 1, 7, wrote), write(7, 1, 1, 8, wrote)}, porcupine.Illegal},
		"a stale read":             {[]deed{write(0, 0, 1, 7, wrote), write(7, 1, 2, 8, wrote), read(7, 1, 2)}, porcupine.Illegal},
	} {
		var ops []porcupine.Operation
		for i, d := range c.deeds {
			ops = append(ops, porcupine.Operation{Input: d, Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperationsTimeout(chaosModel, ops, time.Minute); got != c.want {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
	// A write whose node is silent may come later than accesses that were called after
	// it.
	notes := []said{
		{1, note{What: "call", Op: 1, Mode: uint8(queue.Write), Token: 7, At: 1}},
		{0, note{What: "call", Op: 1, At: 2}},
		{0, note{What: "done", Op: 1, At: 3, Seen: &sighted{}}},
		{1, note{What: "held", Op: 1, Mode: uint8(queue.Write), Token: 7, At: 4, Seen: &sighted{Fence: 1}}},
		{0, note{What: "call", Op: 2, At: 5}},
		{0, note{What: "done", Op: 2, At: 6, Seen: &sighted{7, 1, 1, false}}},
	}
	if got := porcupine.CheckOperationsTimeout(chaosModel, history(notes, 0), time.Minute); got != porcupine.Ok {
		t.Errorf("a write whose end is not known: %v", got)
	}
	notes = append(notes, said{1, note{What: "done", Op: 1, Verdict: toldLost, At: 7, Seen: &sighted{Fence: 1}}})
	if got := porcupine.CheckOperationsTimeout(chaosModel, history(notes, 0), time.Minute); got != porcupine.Illegal {
		t.Errorf("a write that is gone, as its node was told: %v", got)
	}
}
