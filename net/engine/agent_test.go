package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// local is an Agent of a memory of 4 words of rank 1, for the operations of rank 0.
func local() (*engine.Agent, *memory) {
	m := &memory{words: make([]uint64, 4), peers: []rma.Rank{0}, here: []rma.Rank{1}}
	return engine.NewAgent(m), m
}

// do executes an operation of rank 0 at rank 1.
func do(t *testing.T, a *engine.Agent, k wire.Kind, op wire.Operation, bulk []byte) (reply wire.Reply, read []byte, answer bool) {
	t.Helper()
	op.Target = 1
	reply, read, answer, err := a.Step(k, 7, &op, bulk)
	must(t, err)
	if reply.Origin != 0 || reply.Call != 7 {
		t.Errorf("%v: the reply is %+v", k, reply)
	}
	return reply, read, answer
}

// TestOperations executes each.
func TestOperations(t *testing.T) {
	a, m := local()
	for _, c := range []struct {
		kind   wire.Kind
		op     wire.Operation
		bulk   []byte
		answer bool
		value  uint64
		word   uint64 // the last, afterwards
		read   []byte
	}{
		{kind: wire.KindPut, op: wire.Operation{Disp: 3, A: 5}, word: 5},
		{kind: wire.KindAccumulate, op: wire.Operation{Disp: 3, A: 2, B: uint64(rma.Sum)}, word: 7},
		{kind: wire.KindFetchOp, op: wire.Operation{Disp: 3, A: 9, B: uint64(rma.Replace)}, answer: true, value: 7, word: 9},
		{kind: wire.KindFetchOp, op: wire.Operation{Disp: 3, A: 1, B: uint64(rma.NoOp)}, answer: true, value: 9, word: 9},
		{kind: wire.KindCAS, op: wire.Operation{Disp: 3, A: 8, B: 1}, answer: true, value: 9, word: 9},
		{kind: wire.KindCAS, op: wire.Operation{Disp: 3, A: 9, B: 1}, answer: true, value: 9, word: 1},
		{kind: wire.KindGet, op: wire.Operation{Disp: 3}, answer: true, value: 1, word: 1},
		{kind: wire.KindPutBytes, op: wire.Operation{Disp: 2}, bulk: native([]uint64{3, 4}), word: 4},
		{kind: wire.KindPutBytes, op: wire.Operation{Disp: 4}, word: 4},
		{kind: wire.KindGetBytes, op: wire.Operation{Disp: 2, Length: 16}, answer: true, word: 4, read: native([]uint64{3, 4})},
		{kind: wire.KindGetBytes, op: wire.Operation{Disp: 4}, answer: true, word: 4},
		{kind: wire.KindFlush, answer: true, word: 4},
	} {
		reply, read, answer := do(t, a, c.kind, c.op, c.bulk)
		if answer != c.answer || reply.Status != wire.Done || reply.Value != c.value || !bytes.Equal(read, c.read) || m.words[3] != c.word {
			t.Errorf("%v %+v: %+v, %d, %v, and the word is %d", c.kind, c.op, reply, read, answer, m.words[3])
		}
	}
}

// TestBadAddresses names memory that is not there: the answer says so, and where there
// is none, the next Flush's does, once, and only to who did it.
func TestBadAddresses(t *testing.T) {
	a, m := local()
	m.peers = []rma.Rank{0, 1, 2}
	for _, k := range []wire.Kind{wire.KindFetchOp, wire.KindCAS, wire.KindGet, wire.KindGetBytes} {
		for _, d := range []rma.Disp{-1, 4, 1 << 62} {
			if reply, read, answer := do(t, a, k, wire.Operation{Disp: d, Length: 8}, nil); reply.Status != wire.BadAddress || read != nil || !answer {
				t.Errorf("%v at %v: %+v, %d, %v", k, d, reply, read, answer)
			}
		}
	}
	for _, k := range []wire.Kind{wire.KindPut, wire.KindAccumulate, wire.KindPutBytes} {
		bulk := make([]byte, 8)
		if _, _, answer := do(t, a, k, wire.Operation{Disp: 4}, bulk); answer {
			t.Errorf("%v is answered", k)
		}
		other := wire.Operation{Origin: 2, Target: 1}
		if reply, _, _, err := a.Step(wire.KindFlush, 7, &other, nil); err != nil || reply.Status != wire.Done {
			t.Errorf("another rank's Flush after a bad %v: %+v, %v", k, reply, err)
		}
		for _, want := range []wire.Status{wire.BadAddress, wire.Done} {
			if reply, _, answer := do(t, a, wire.KindFlush, wire.Operation{}, nil); reply.Status != want || !answer {
				t.Errorf("a Flush after a bad %v: %+v, %v, want %v", k, reply, answer, want)
			}
		}
	}
}

// TestClaims asks for more bytes than there are: no room is made for them.
func TestClaims(t *testing.T) {
	a, m := local()
	for _, c := range []struct {
		disp   rma.Disp
		length int
	}{{0, wire.MaxBulk}, {1, 32}, {-1, 16}, {4, 8}} {
		if reply, _, _ := do(t, a, wire.KindGetBytes, wire.Operation{Disp: c.disp, Length: c.length}, nil); reply.Status != wire.BadAddress {
			t.Errorf("%d bytes at %d: %+v", c.length, c.disp, reply)
		}
	}
	if m.rooms > 0 {
		t.Errorf("there was room made for %d bytes", m.rooms)
	}
	if reply, read, _ := do(t, a, wire.KindGetBytes, wire.Operation{Length: 12}, nil); reply.Status != wire.BadAddress || read != nil {
		t.Errorf("12 bytes are read as whole words: %+v, %d bytes", reply, len(read))
	}
}

// TestFailedWindow executes nothing, and no Flush says that it did. A reply says why.
func TestFailedWindow(t *testing.T) {
	lost := &rma.PeerLostError{Rank: 6}
	for _, c := range []struct {
		failure error
		status  wire.Status
		value   uint64
	}{
		{rma.ErrClosed, wire.Closed, 0},
		{context.Canceled, wire.Closed, 0},
		{lost, wire.Failed, 7},
		{fmt.Errorf("%w: %w", lost, rma.ErrClosed), wire.Closed, 7},
	} {
		a, m := local()
		m.failed = c.failure
		for k := wire.KindPut; k <= wire.KindGetBytes; k++ {
			if k == wire.KindAwait || k == wire.KindForget {
				continue
			}
			reply, _, answer := do(t, a, k, wire.Operation{A: 1, Length: 8}, nil)
			if answer && (reply.Status != c.status || reply.Value != c.value) || m.words[0] != 0 {
				t.Errorf("%v: %v: %+v, and the word is %d", c.failure, k, reply, m.words[0])
			}
		}
	}
}

// TestNonsense is what no node sends.
func TestNonsense(t *testing.T) {
	a, _ := local()
	for name, c := range map[string]struct {
		kind wire.Kind
		op   wire.Operation
	}{
		"a rank of another node":   {wire.KindPut, wire.Operation{Origin: 1, Target: 1}},
		"memory of another node":   {wire.KindPut, wire.Operation{Origin: 0, Target: 0}},
		"an unknown operator":      {wire.KindFetchOp, wire.Operation{Target: 1, B: uint64(rma.NoOp) + 1}},
		"another unknown operator": {wire.KindAccumulate, wire.Operation{Target: 1, B: 256}},
		"an unknown relation":      {wire.KindAwait, wire.Operation{Target: 1, C: uint64(rma.GreaterOrEqual) + 1}},
		"an Await":                 {wire.KindAwait, wire.Operation{Target: 1}},
		"a Forget":                 {wire.KindForget, wire.Operation{Target: 1}},
		"no operation":             {wire.KindReply, wire.Operation{Target: 1}},
	} {
		if _, _, answer, err := a.Step(c.kind, 1, &c.op, nil); !errors.Is(err, engine.ErrOperation) || answer {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
	await := wire.Operation{Target: 1, C: uint64(rma.GreaterOrEqual)}
	if w, err := a.Admit(wire.KindAwait, &await); w == nil || err != nil {
		t.Errorf("an Await: %v, %v", w, err)
	}
}

// TestOwnPanics does not take a mistake of the window's for the peer's.
func TestOwnPanics(t *testing.T) {
	_, m := local()
	m.words = nil
	m.here = []rma.Rank{1}
	defer func() {
		if recover() == nil {
			t.Error("a panic of the memory is swallowed")
		}
	}()
	a := engine.NewAgent(broken{m})
	a.Step(wire.KindGetBytes, 1, &wire.Operation{Target: 1}, nil)
}

// broken is a memory without room.
type broken struct{ *memory }

func (broken) Room(int) []byte { panic("no room") }

// TestCalls takes an answer once, and only from who was asked.
func TestCalls(t *testing.T) {
	var c engine.Calls
	answered := func(p rma.Rank, call uint64) bool { return c.Answered(&wire.Reply{Origin: p, Call: call}) }
	if answered(0, 0) || answered(1, 1) {
		t.Error("an answer, and nobody asked")
	}
	for p := range rma.Rank(5) {
		c.Expect(p, 10+uint64(p))
	}
	for _, wrong := range []uint64{0, 11, 13} {
		if answered(2, wrong) {
			t.Errorf("the answer to %d is taken for that to 12", wrong)
		}
	}
	if !answered(2, 12) || answered(2, 12) {
		t.Error("an answer is taken never, or twice")
	}
}

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
