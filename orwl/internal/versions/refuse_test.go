package versions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// stage is three nodes with two resources of 16 bytes, and a fourth one that uses none:
//
//	resource 0, home 0    W of task 0 on node 1   R of task 1 on node 0   W of task 2 on node 2   R of task 3 on node 1
//	resource 1, home 1    W of task 0 on node 1                           R of task 2 on node 2
//	counters              task 0: 0 and 1         task 1: 2               task 2: 3 and 4         task 3: 5
func stage(rounds int) (p *plan.Plan, nodes []*Node, copies [][]*words) {
	s := liveness.System{Tasks: []liveness.Task{
		{Name: "t0", Accesses: []liveness.Access{{Resource: "a", Mode: modes.Write}, {Resource: "b", Mode: modes.Write}}},
		{Name: "t1", Accesses: []liveness.Access{{Resource: "a"}}},
		{Name: "t2", Accesses: []liveness.Access{{Resource: "a", Mode: modes.Write}, {Resource: "b"}}},
		{Name: "t3", Accesses: []liveness.Access{{Resource: "a"}}},
	}}
	tasks := []plan.Task{{Rounds: rounds, Node: 1}, {Rounds: rounds}, {Rounds: rounds, Node: 2}, {Rounds: rounds, Node: 1}}
	p = plan.OfSystemOnNodes(s, tasks, map[string]int{"b": 1})
	for x := range 4 {
		var own []*words
		var all []Copy
		for range 2 {
			m := &words{make([]byte, 16)}
			own, all = append(own, m), append(all, Copy{Memory: m})
		}
		n, err := New(Options{Run: 9, Node: x, Nodes: 4, Plan: p, Copies: all, Most: 64})
		if err != nil {
			panic(err)
		}
		nodes, copies = append(nodes, n), append(copies, own)
	}
	return p, nodes, copies
}

// begun is a stage on which the first versions have arrived.
func begun() (nodes []*Node, copies [][]*words) {
	_, nodes, copies = stage(5)
	for _, n := range nodes {
		n.Begin(new(Work))
	}
	deliver(nodes)
	return nodes, copies
}

// deliver has all arrive that waits.
func deliver(nodes []*Node) {
	for again := true; again; {
		again = false
		for x, n := range nodes {
			for to, m := range nodes {
				for header, bulk, ok := n.Pass(to, nil, nil); ok; header, bulk, ok = n.Pass(to, nil, nil) {
					again = true
					if err := m.Take(x, header, bulk, new(Work)); err != nil {
						panic(err)
					}
				}
			}
		}
	}
}

// fields is an entry.
type fields []uint64

// header is a header by hand.
func header(run uint64, entries ...fields) []byte {
	b := wire.AppendUint(wire.AppendArray(nil, 1+len(entries)), run)
	for _, e := range entries {
		b = wire.AppendArray(b, len(e))
		for _, v := range e {
			b = wire.AppendUint(b, v)
		}
	}
	return b
}

const big = 1 << 32

// many are so many spans of a byte.
func many(e fields, n int) fields {
	for i := range n {
		e = append(e, uint64(2*i), 1)
	}
	return e
}

// TestRefused gives a node messages that no correct node sends. Each error names what is wrong. Nothing has changed.
func TestRefused(t *testing.T) {
	for _, row := range []struct {
		name     string
		to, from int
		header   []byte
		bulk     int
		err      error
		text     string
	}{
		{"nothing", 0, 1, nil, 0, ErrMalformed, "header of 0 bytes"},
		{"no array", 0, 1, []byte{9}, 0, ErrMalformed, "want an array"},
		{"an array of nothing", 0, 1, []byte{0x90}, 0, ErrMalformed, "unsigned"},
		{"another run", 0, 1, header(8), 0, ErrOtherRun, "run 8, want 9"},
		{"bytes too many", 0, 1, append(header(9), 0), 0, ErrMalformed, "too many"},
		{"bulk of nobody", 0, 1, header(9), 1, ErrRange, "1 are left over"},
		{"no entry", 0, 1, header(9, fields{}), 0, ErrMalformed, "entry 0"},
		{"entry 0", 0, 1, header(9, fields{0, 1, 1, 1}), 0, ErrMalformed, "entry 0 of 4 fields"},
		{"entry 4", 0, 1, header(9, fields{4, 1, 1, 1}), 0, ErrMalformed, "entry 4 of 4 fields"},
		{"entry 4, as long as a version", 0, 1, header(9, fields{4, 0, 0, 0, 1, 16, 1, 1, 1, 0}), 0, ErrMalformed, "entry 4 of 10 fields"},
		{"a short credit", 1, 2, header(9, fields{creditEntry, 4, 1}), 0, ErrMalformed, "of 3 fields"},
		{"a long answer", 0, 1, header(9, fields{takenEntry, 0, 0, 1, 1}), 0, ErrMalformed, "of 5 fields"},
		{"a short version", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16}), 0, ErrMalformed, "of 6 fields"},

		{"no such counter", 1, 2, header(9, fields{creditEntry, 6, 1, 0}), 0, ErrUnknown, "counter 6"},
		{"a counter that nobody here waits for", 1, 0, header(9, fields{creditEntry, 2, 1, 0}), 0, ErrUnknown, "counter 2"},
		{"a writer's counter", 1, 2, header(9, fields{creditEntry, 3, 1, 0}), 0, ErrUnknown, "counter 3"},
		{"an own counter", 1, 2, header(9, fields{creditEntry, 5, 1, 0}), 0, ErrUnknown, "counter 5"},
		{"another node's counter", 1, 0, header(9, fields{creditEntry, 4, 1, 0}), 0, ErrSender, "node 2"},
		{"round 0", 1, 2, header(9, fields{creditEntry, 4, 0, 0}), 0, ErrMalformed, "round 0"},
		{"a round too great", 1, 2, header(9, fields{creditEntry, 4, mostRounds + 1, 0}), 0, ErrMalformed, "round"},
		{"a round of 33 bits", 1, 2, header(9, fields{creditEntry, 4, big, 0}), 0, ErrMalformed, "at most"},
		{"a bad credit before a good one", 1, 2, header(9, fields{creditEntry, 4, big, 0}, fields{creditEntry, 4, 1, 0}), 0, ErrMalformed, "at most"},
		{"an end that is neither", 1, 2, header(9, fields{creditEntry, 4, 1, 2}), 0, ErrMalformed, "at most"},

		{"an answer for no resource", 0, 1, header(9, fields{takenEntry, 2, 0, 1}), 0, ErrUnknown, "resource 2"},
		{"an answer for a resource of others", 0, 1, header(9, fields{takenEntry, 1, 0, 1}), 0, ErrUnknown, "resource 1"},
		{"an answer of a node that is sent none", 1, 2, header(9, fields{takenEntry, 0, 0, 1}), 0, ErrSender, "no versions go there"},
		{"an answer of a version that was not sent", 0, 1, header(9, fields{takenEntry, 0, 0, 2}), 0, ErrUnsent, "version 0.2"},

		{"no such resource", 0, 1, header(9, fields{versionEntry, 2, 0, 0, 1, 16, 1, 1, 1, 0}), 0, ErrUnknown, "resource 2"},
		{"a resource of others", 0, 1, header(9, fields{versionEntry, 1, 0, 0, 1, 16, 1, 1, 1, 0}), 0, ErrUnknown, "resource 1"},
		{"not from the home", 1, 2, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 3, 1, 0}), 0, ErrSender, "nor is its home"},
		{"from a node without an access", 0, 3, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0}), 0, ErrSender, "does not use"},
		{"more idle writes than writes", 0, 1, header(9, fields{versionEntry, 0, 1 << idleShift, 0, 1, 16, 1, 1, 1, 0}), 0, ErrMalformed, "1 idle ones"},
		{"too many writes", 0, 1, header(9, fields{versionEntry, 0, (mostWrites + 1) << writesShift, 0, 1, 16, 1, 1, 1, 0}), 0, ErrMalformed, "1073741825 writes"},
		{"a base that nobody writes", 0, 1, header(9, fields{versionEntry, 0, 0, 1, 2, 16, 1, 1, 2, 0}), 0, ErrUnknown, "nobody writes"},
		{"a base behind all", 0, 1, header(9, fields{versionEntry, 0, 0, 1, 5, 16, 1, 1, 2, 0}), 0, ErrUnknown, "nobody writes"},
		{"a base of 33 bits", 0, 1, header(9, fields{versionEntry, 0, 0, big, 1, 16, 1, 1, 2, 0}), 0, ErrMalformed, "at most"},
		{"too large", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 65, 1, 1, 1, 0}), 0, ErrRange, "65 bytes, at most 64"},
		{"too many reports", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 5, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0}), 0, ErrMalformed, "5 reports"},
		{"reports that are not there", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 2, 1, 1, 0}), 0, ErrMalformed, "2 reports"},
		{"reports that are not there, and a field", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 2, 1, 1, 0, 1}), 0, ErrMalformed, "2 reports"},
		{"a position of 33 bits", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, big, 1, 0}), 0, ErrMalformed, "at most"},
		{"half a span", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 8}), 0, ErrMalformed, "4 fields"},
		{"17 spans", 0, 1, header(9, many(fields{versionEntry, 0, 0, 0, 1, 64, 1, 1, 1, 0}, 17)), 17, ErrMalformed, "37 fields"},
		{"position 0", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 0, 1, 0}), 0, ErrUnknown, "does not write"},
		{"a reader's position", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 4, 1, 0}), 0, ErrUnknown, "does not write"},
		{"a position behind all", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 5, 1, 0}), 0, ErrUnknown, "does not write"},
		{"another node's version", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 3, 1, 0}), 0, ErrSender, "of node 2"},
		{"an own version", 2, 0, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 3, 1, 0}), 0, ErrSender, "of node 2"},
		{"a version of round 0", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 0, 1}), 0, ErrBack, "after 0.1"},
		{"a version's round too great", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, mostRounds + 1, 0}), 0, ErrMalformed, "version"},
		{"a state that is none", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 3}), 0, ErrMalformed, "at most 2"},
		{"a round that goes back", 0, 1, header(9, fields{versionEntry, 0, 0, 2, 1, 16, 1, 1, 1, 0}), 0, ErrBack, "version 1.1 after 2.1"},
		{"the same round", 0, 1, header(9, fields{versionEntry, 0, 0, 2, 1, 16, 1, 1, 2, 0}), 0, ErrBack, "version 2.1 after 2.1"},
		{"an older report", 0, 1, header(9, fields{versionEntry, 0, 0, 1, 1, 16, 2, 1, 1, 0, 1, 2, 0}), 0, ErrBack, "version 1.1 after 1.1"},
		{"the base as a version", 0, 1, header(9, fields{versionEntry, 0, 0, 1, 1, 16, 1, 1, 1, 2}), 0, ErrBack, "version 1.1 after 1.1"},
		{"no report", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 0}), 0, ErrBack, "version 0.0 after 0.1"},
		{"the first version, at the home", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 0, 16, 0}), 0, ErrSender, "this node is its home"},
		{"an end with a version", 0, 1, header(9, fields{versionEntry, 0, sameBit, 0, 1, 16, 1, 1, 1, 2}), 0, ErrMalformed, "end after 0.1"},
		{"an end with bytes", 0, 1, header(9, fields{versionEntry, 0, sameBit, 0, 1, 16, 1, 1, 0, 2, 0, 1}), 1, ErrMalformed, "2 fields of spans"},
		{"an end of nobody", 0, 1, header(9, fields{versionEntry, 0, sameBit, 0, 1, 16, 0}), 0, ErrMalformed, "0 reports"},
		{"a span beyond", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 16, 1}), 1, ErrRange, "1 bytes from byte 16 on"},
		{"a long span", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 0, 17}), 17, ErrRange, "17 bytes from byte 0 on"},
		{"a very long span", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 1, 1 << 63}), 1, ErrMalformed, "at most"},
		{"an empty span", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 1, 0}), 0, ErrRange, "0 bytes from byte 1 on"},
		{"spans that overlap", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 0, 2, 1, 2}), 4, ErrRange, "after 2"},
		{"too few bytes", 0, 1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 0, 16}), 15, ErrRange, "16 bytes, and 15 are there"},
		{"a base that was passed", 2, 0, header(9, fields{versionEntry, 0, 0, 0, 0, 16, 0}), 0, ErrGap, "0.1 is here"},
		{"a version that waits here", 0, 2, header(9, fields{versionEntry, 0, 0, 1, 1, 16, 1, 3, 1, 0}), 0, ErrUnsent, "version 1.3 of resource 0 after 1.1"},
		{"a credit after a version that waits here", 1, 2, header(9, fields{creditEntry, 4, 1, 0}), 0, ErrUnsent, "credit of counter 4"},
	} {
		nodes, _ := begun()
		n, m := nodes[row.to], nodes[1]
		if err := m.Released(0, 1, []Span{{0, 4}}, Goes, new(Work)); err != nil {
			t.Fatal(err)
		}
		if err := m.Released(1, 1, []Span{{0, 4}}, Goes, new(Work)); err != nil {
			t.Fatal(err)
		}
		if errors.Is(row.err, ErrUnsent) && row.to == 0 && row.from == 2 {
			take(t, n, m, 1)
		}
		before := state(n)
		var w Work
		err := n.Take(row.from, row.header, make([]byte, row.bulk), &w)
		var typed *MessageError
		if !errors.Is(err, row.err) || !errors.As(err, &typed) || typed.From != row.from || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v, want %v with %q", row.name, err, row.err, row.text)
		}
		if len(w.Publish) > 0 || state(n) != before {
			t.Errorf("%s: it has changed something, %v", row.name, w.Publish)
		}
	}
}

// take has a node take what another one has for it.
func take(t *testing.T, to, from *Node, number int) (w Work) {
	t.Helper()
	for {
		header, bulk, ok := from.Pass(to.o.Node, nil, nil)
		if !ok {
			return w
		}
		if err := to.Take(number, header, bulk, &w); err != nil {
			t.Fatal(err)
		}
	}
}

// state is all that can change in a node.
func state(n *Node) string {
	var k key
	k.node(n)
	for _, r := range n.resources {
		if r != nil {
			k.bytes(r.copy.Bytes())
		}
	}
	return string(k)
}

// A receiver keeps three versions that have overtaken their base. There is no fourth one on its way.
func TestTooManyEarly(t *testing.T) {
	nodes, _ := begun()
	n := nodes[0]
	for k := uint64(2); k < 6; k++ {
		err := n.Take(1, header(9, fields{versionEntry, 0, 0, k - 1, 1, 16, 1, 1, k, 0}), nil, new(Work))
		if full := k == 5; full != errors.Is(err, ErrGap) || !full && err != nil {
			t.Errorf("round %d: %v", k, err)
		}
	}
	var w Work
	err := n.Take(1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0}), nil, &w)
	if got, want := fmt.Sprint(w.Publish, err), "[{0 1 0} {0 2 0} {0 3 0} {0 4 0}] <nil>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The second of two versions with one base is refused, also if it was kept.
func TestTwoWithOneBase(t *testing.T) {
	nodes, _ := begun()
	n := nodes[0]
	for _, k := range []uint64{2, 3} {
		if err := n.Take(1, header(9, fields{versionEntry, 0, 0, 1, 1, 16, 1, 1, k, 0}), nil, new(Work)); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Take(1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0}), nil, new(Work)); !errors.Is(err, ErrGap) {
		t.Error(err)
	}
}

// A version that changes the size has all bytes: memory follows what has come.
func TestSizeWithoutBytes(t *testing.T) {
	for bytes, want := range map[uint64]error{63: ErrRange, 64: nil} {
		nodes, copies := begun()
		var w Work
		err := nodes[0].Take(1, header(9, fields{versionEntry, 0, 0, 0, 1, 64, 1, 1, 1, 0, 0, bytes}), make([]byte, bytes), &w)
		if good := want == nil; !errors.Is(err, want) || (len(w.Publish) > 0) != good || (len(copies[0][0].b) == 64) != good || (nodes[0].resources[0].version != First) != good {
			t.Errorf("%d bytes: %v, %v", bytes, err, w.Publish)
		}
	}
}

// Take keeps nothing of a message: a Work that is used again later holds no bulk.
func TestNothingKept(t *testing.T) {
	nodes, _ := begun()
	var w Work
	if err := nodes[0].Take(1, header(9, fields{versionEntry, 0, 0, 0, 1, 16, 1, 1, 1, 0, 0, 16}), make([]byte, 16), &w); err != nil {
		t.Fatal(err)
	}
	if err := nodes[0].Take(1, header(9, fields{versionEntry, 0, 0, 1, 1, 16, 1, 1, 2, 0, 0, 16}), make([]byte, 16), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.entries) != 1 || w.entries[0].bytes != nil || len(w.reports) != 1 || len(w.spans) != 1 {
		t.Errorf("%+v", w)
	}
}

// The greatest rounds, and as many spans and writes as there may be, are taken.
func TestGreatest(t *testing.T) {
	for _, row := range []struct {
		to, from int
		entry    fields
		bulk     int
	}{
		{1, 2, fields{creditEntry, 4, mostRounds, 0}, 0},
		{0, 1, fields{versionEntry, 0, 0, 0, 1, 64, 1, 1, mostRounds, 0}, 0},
		{0, 1, fields{versionEntry, 0, mostWrites << writesShift, 0, 1, 64, 1, 1, mostRounds, 0}, 0},
		{0, 1, fields{versionEntry, 0, 0, 0, 1, 64, 1, 1, 1, 0, 0, 64}, 64},
		{0, 1, many(fields{versionEntry, 0, 0, 0, 1, 64, 1, 1, 1, 0}, mostSpans), mostSpans},
	} {
		nodes, copies := begun()
		copies[0][0].b = make([]byte, 64)
		var w Work
		if err := nodes[row.to].Take(row.from, header(9, row.entry), make([]byte, row.bulk), &w); err != nil || len(w.Publish) != 1 {
			t.Errorf("%v: %v, %v", row.entry, err, w.Publish)
		}
	}
}

// A copy that is known to be zero is not touched by a first version without bytes.
func TestZero(t *testing.T) {
	for _, zero := range []bool{false, true} {
		nodes, copies := begun()
		n, want := nodes[2], "0"
		n.resources[0].version, n.resources[0].copy.Zero = 0, zero
		if copies[2][0].b[3] = 1; zero {
			want = "1"
		}
		if err := n.Take(0, header(9, fields{versionEntry, 0, 0, 0, 0, 16, 0}), nil, new(Work)); err != nil || fmt.Sprint(copies[2][0].b[3]) != want {
			t.Errorf("zero %t: %v, %v", zero, err, copies[2][0].b)
		}
	}
}

// stiff is memory whose size does not change.
type stiff struct{ words }

var errStiff = errors.New("stiff")

func (stiff) Came(int, int) {}
func (stiff) Enter()        {}
func (stiff) Leave()        {}

func (stiff) Resize(int) error { return errStiff }

// A copy that cannot have the size of a version is an error, and nothing is published.
func TestNoMemory(t *testing.T) {
	nodes, _ := begun()
	n := nodes[0]
	n.resources[0].copy.Memory = &stiff{words{make([]byte, 16)}}
	var w Work
	err := n.Take(1, header(9, fields{versionEntry, 0, 0, 0, 1, 8, 1, 1, 1, 0, 0, 8}), make([]byte, 8), &w)
	if !errors.Is(err, ErrMemory) || !errors.Is(err, errStiff) || len(w.Publish) > 0 || n.resources[0].version != First {
		t.Errorf("%v, %v", err, w.Publish)
	}
}

// The nodes of the accesses that wait for a read are told of it, each once, and no other node.
func TestTells(t *testing.T) {
	_, nodes, _ := stage(5)
	for x, want := range []int{1, 0, 1, 0} {
		if got := len(nodes[x].listeners); got != want {
			t.Errorf("node %d listeners %d nodes of its reads, want %d", x, got, want)
		}
	}
	c := small{queue: "R0 W1 W2", last: []int{1, 2, 3}, node: []int{0, 1, 1}, writes: []write{{}}}.cluster() // both wait for the read
	n, w := c.start().nodes[0], new(Work)
	if err := n.Released(0, 1, nil, Ended, w); err != nil || len(n.listeners) != 1 || fmt.Sprint(w.Nodes) != "[1]" {
		t.Errorf("%v: %d nodes are told, and something waits for %v", err, len(n.listeners), w.Nodes)
	}
	if !n.Tells(0) {
		t.Error("node 1 is told of the read, and Tells says no")
	}
	if w.reset(); len(w.Nodes) > 0 {
		t.Error("Reset leaves nodes")
	}
}

// An access to a resource that only its node uses says nothing.
func TestLocal(t *testing.T) {
	s := liveness.System{Tasks: []liveness.Task{
		{Accesses: []liveness.Access{{Resource: "a", Mode: modes.Write}}}, {Accesses: []liveness.Access{{Resource: "a"}}},
		{Accesses: []liveness.Access{{Resource: "b", Mode: modes.Write}, {Resource: "a"}}}, {Accesses: []liveness.Access{{Resource: "b"}}},
	}}
	tasks := []plan.Task{{Rounds: 9}, {Rounds: 9, Node: 1}, {Rounds: 9}, {Rounds: 9}}
	n, err := New(Options{Nodes: 2, Plan: plan.OfSystemOnNodes(s, tasks, nil), Copies: []Copy{{Memory: new(words)}, {}}})
	if err != nil {
		t.Fatal(err)
	}
	n.Begin(new(Work))
	for c, tells := range []bool{true, false, false, false, false} { // task 1 only reads, and it is elsewhere
		if n.Tells(c) != tells {
			t.Errorf("counter %d: others are told: %t", c, !tells)
		}
	}
	before, w := state(n), new(Work)
	for _, c := range []int{2, 4} { // b of task 2, and task 3
		if err := n.Released(c, 1, []Span{{0, 1}}, Goes, w); err != nil {
			t.Error(err)
		}
		n.Ends(c, Ended, w)
	}
	if state(n) != before || len(w.Nodes) > 0 {
		t.Errorf("something has changed, or waits for %v", w.Nodes)
	}
}

// A version is on its way when it was sent, until it is shown. The third and the fourth one ask for an answer. More
// versions wait.
func TestInFlight(t *testing.T) {
	p := newPair(8, 0) // the first version was sent, and nothing has shown it
	l := p.nodes[0].resources[0].linkTo(1)
	send := func(k uint32) string {
		if err := p.nodes[0].Released(0, k, nil, Goes, new(Work)); err != nil {
			t.Fatal(err)
		}
		header, _, ok := p.nodes[0].Pass(1, nil, nil)
		asks := ok && strings.Contains(new(theatre).read(header, nil), "please")
		return fmt.Sprint(l.inFlight[:l.n], ok, asks)
	}
	arrived := func(v Version) string {
		w := new(Work)
		p.nodes[0].boxes[1].named = false
		return fmt.Sprint(l.arrived(v, w), l.inFlight[:l.n], w.Nodes)
	}
	for _, step := range []struct{ got, want string }{
		{send(1), "[0.1 1.1] true false"},
		{send(2), "[0.1 1.1 2.1] true true"},
		{send(3), "[0.1 1.1 2.1 3.1] true true"},
		{send(4), "[0.1 1.1 2.1 3.1] false false"},
		{arrived(version(4, 1)), "false [0.1 1.1 2.1 3.1] []"},
		{arrived(0), "true [0.1 1.1 2.1 3.1] []"},
		{arrived(version(1, 1)), "true [2.1 3.1] [1]"},
		{send(5), "[2.1 3.1 5.1] true true"},
		{arrived(version(3, 0)), "true [3.1 5.1] []"},
		{arrived(version(9, 9)), "true [] []"},
		{send(6), "[6.1] true false"},
	} {
		if step.got != step.want {
			t.Errorf("%s, want %s", step.got, step.want)
		}
	}
}

// A message has entries up to a size of its header, and bytes up to a limit. The rest waits for the next one.
func TestSplit(t *testing.T) {
	for _, row := range []struct {
		limits
		want string // entries and bytes of each message
	}{
		{limits{1 << 10, 64}, "2 32"},
		{limits{1 << 10, 32}, "2 32"},
		{limits{1 << 10, 31}, "1 16, 1 16"},
		{limits{1, 64}, "1 16, 1 16"},
		{limits{13, 64}, "1 16, 1 16"}, // this version has 13 bytes
		{limits{14, 64}, "2 32"},
	} {
		nodes, _ := begun()
		n := nodes[2]
		n.limits = row.limits
		var got []string
		for r := range 2 { // for a play in which node 0 is the home of both
			l := nodes[2].resources[r].linkTo(r)
			l.box = &n.boxes[0]
			l.note(First, version(1, 3), writes{}, []Span{{0, 16}}, []report{{3, 1, Goes}}, new(Work))
		}
		for header, bulk, ok := n.Pass(0, nil, nil); ok; header, bulk, ok = n.Pass(0, nil, nil) {
			r := wire.NewReader(header)
			got = append(got, fmt.Sprint(r.Array()-1, " ", len(bulk)))
		}
		if got := strings.Join(got, ", "); got != row.want {
			t.Errorf("%+v: %s, want %s", row.limits, got, row.want)
		}
	}
}

// Credits are split, too. An answer does not wait for a version that may not leave yet.
func TestSplitCredits(t *testing.T) {
	messages := func(n *Node) (all []string) {
		for header, bulk, ok := n.Pass(0, nil, nil); ok; header, bulk, ok = n.Pass(0, nil, nil) {
			r := wire.NewReader(header)
			all = append(all, fmt.Sprint(r.Array()-1, " ", len(bulk)))
		}
		return all
	}
	nodes, _ := begun()
	n := nodes[2]
	for size, want := range map[int]string{1: "[1 0 1 0 1 0]", 5: "[1 0 1 0 1 0]", 6: "[2 0 1 0]", 100: "[3 0]"} { // a credit has 5 bytes
		box := &n.boxes[0]
		box.credits, box.due, n.limits = make([]credit, 3), nil, limits{size, 64}
		for i := range box.credits {
			box.credit(listener{0, uint32(i)}, 1, false, new(Work))
		}
		if got := fmt.Sprint(messages(n)); got != want {
			t.Errorf("%d bytes: %s, want %s", size, got, want)
		}
	}
	n.limits = limits{1 << 10, 31}
	for r := range 2 {
		l, w := n.resources[r].linkTo(r), new(Work)
		l.box = &n.boxes[0]
		if r == 1 {
			l.n = mostInFlight
			l.mustAnswer(First, w)
		}
		l.note(First, version(1, 3), writes{}, []Span{{0, 16}}, []report{{3, 1, Goes}}, w)
	}
	if got := fmt.Sprint(messages(n)); got != "[2 16]" {
		t.Errorf("an answer beside a version: %s", got)
	}
}

// A write beyond what is possible is refused, and nothing is noted.
func TestReleasedOutOfRange(t *testing.T) {
	for _, row := range []struct {
		size    int
		changed []Span
		err     error
	}{
		{65, nil, ErrLimit}, {16, []Span{{-1, 2}}, ErrRange}, {16, []Span{{1, -1}}, ErrRange}, {16, []Span{{0, 1}, {16, 1}}, ErrRange},
		{16, []Span{{0, 16}}, nil}, {16, []Span{{16, 0}}, nil}, {64, nil, nil},
	} {
		nodes, copies := begun()
		n, w := nodes[1], new(Work)
		copies[1][0].b = make([]byte, row.size)
		before := state(n)
		err := n.Released(0, 1, row.changed, Goes, w)
		if !errors.Is(err, row.err) || err != nil && (state(n) != before || len(w.Nodes) > 0) {
			t.Errorf("%d bytes, %v: %v, want %v", row.size, row.changed, err, row.err)
		}
	}
}

// New refuses what is too large, and a caller that contradicts the plan.
func TestNew(t *testing.T) {
	p, _, _ := stage(1)
	good := func() Options {
		return Options{Run: 1, Nodes: 3, Plan: p, Copies: []Copy{{Memory: new(words)}, {Memory: new(words)}}}
	}
	for name, change := range map[string]func(o *Options){
		"node":       func(o *Options) { o.Node = 3 },
		"below":      func(o *Options) { o.Node = -1 },
		"nodes":      func(o *Options) { o.Nodes = 2 },
		"copies":     func(o *Options) { o.Copies = o.Copies[:1] },
		"most bytes": func(o *Options) { o.Most = MostBytes + 1 },
	} {
		o := good()
		change(&o)
		if !panics(func() { _, _ = New(o) }) {
			t.Errorf("%s: New(%+v) does not panic", name, o)
		}
	}
	o := good()
	o.Most = 15
	o.Copies[0].Memory = &words{make([]byte, 16)}
	if _, err := New(o); !errors.Is(err, ErrLimit) {
		t.Errorf("16 bytes, at most 15: %v", err)
	}
	if o.Most++; true {
		if n, err := New(o); err != nil || n.o.Most != 16 {
			t.Errorf("16 bytes, at most 16: %v", err)
		}
	}
	if n, err := New(good()); err != nil || n.o.Most != MostBytes {
		t.Errorf("no limit: %v", err)
	}
	var s liveness.System
	var tasks []plan.Task
	for i := range mostUses + 1 {
		s.Tasks = append(s.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: "hub"}}})
		tasks = append(tasks, plan.Task{Rounds: 1, Node: i % 2})
	}
	for uses, want := range map[int]error{mostUses: nil, mostUses + 1: ErrLimit} {
		part := s
		part.Tasks = s.Tasks[:uses]
		o := Options{Nodes: 2, Plan: plan.OfSystemOnNodes(part, tasks[:uses], nil), Copies: []Copy{{Memory: new(words)}}}
		if _, err := New(o); !errors.Is(err, want) {
			t.Errorf("%d accesses: %v", uses, err)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// counted counts the writes of other nodes that have come. They come between Enter and Leave.
type counted struct {
	Memory
	writes, idle int
	entered      int
	bad          bool
}

func (c *counted) Enter() { c.entered++ }
func (c *counted) Leave() { c.entered-- }

func (c *counted) Came(writes, idle int) {
	c.writes, c.idle, c.bad = c.writes+writes, c.idle+idle, c.bad || c.entered != 1
}

// Each copy is told how many writes of other nodes have come, and how many of them have changed nothing. An empty turn is no write.
func TestCame(t *testing.T) {
	nodes, _ := begun()
	type of struct{ node, resource int }
	copies := map[of]*counted{}
	for x, n := range nodes {
		for i, r := range n.resources {
			if r != nil {
				c := &counted{Memory: r.copy.Memory}
				r.copy.Memory, copies[of{x, i}] = c, c
			}
		}
	}
	some := []Span{{0, 8}}
	for i, s := range []struct {
		node, counter int
		round         uint32 // 0: Ends
		changed       []Span
		state         State
		waits         bool // nothing arrives yet
		want          map[of][2]int
	}{
		{1, 0, 1, some, Goes, false, map[of][2]int{{0, 0}: {1, 0}, {2, 0}: {1, 0}}},
		{2, 3, 1, nil, Goes, false, map[of][2]int{{0, 0}: {2, 1}, {1, 0}: {1, 1}, {2, 0}: {1, 0}}},
		{1, 0, 2, nil, Rests, false, map[of][2]int{{0, 0}: {3, 2}, {2, 0}: {2, 1}}}, // it rests from the next round on
		{2, 3, 2, some, Goes, false, map[of][2]int{{0, 0}: {4, 2}, {1, 0}: {2, 1}}},
		{1, 0, 3, nil, Rests, false, map[of][2]int{{0, 0}: {4, 2}, {2, 0}: {2, 1}}},
		{2, 3, 0, nil, Rests, false, nil},
		{2, 3, 3, nil, Rests, false, map[of][2]int{{0, 0}: {4, 2}, {1, 0}: {2, 1}}},
		{1, 1, 1, some, Goes, true, nil}, // the other resource, whose versions become one on their way
		{1, 1, 2, nil, Goes, true, nil},
		{1, 1, 3, nil, Goes, false, map[of][2]int{{2, 1}: {3, 2}, {1, 1}: {0, 0}}},
		{1, 1, 4, some, Goes, false, map[of][2]int{{2, 1}: {4, 2}}},
	} {
		if s.round == 0 {
			nodes[s.node].Ends(s.counter, s.state, new(Work))
		} else if err := nodes[s.node].Released(s.counter, s.round, s.changed, s.state, new(Work)); err != nil {
			t.Fatal(err)
		}
		if !s.waits {
			deliver(nodes)
		}
		for at, want := range s.want {
			if c := copies[at]; c.writes != want[0] || c.idle != want[1] || c.bad || c.entered != 0 {
				t.Errorf("step %d: node %d is told of %d writes of resource %d, %d idle, want %d, %d", i, at.node, c.writes, at.resource, c.idle, want[0], want[1])
			}
		}
	}
}
