package coherence

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

// chaos is a home and three mirrors with random steps of their places. Its links keep
// the order, and are otherwise as bad as can be. Beside it stands a model: every
// version's bytes, and what each node must have.
type chaos struct {
	*protocol
	chance func(n int) int // below n
	flaw   string
	calm   bool // few request at a time
	trace  []string

	places   []*model // of each node
	versions [][]byte
	due      map[tag]uint64
	stale    []tag // accesses that are over, and whose places do not know
	written  map[written]commitment
	prior    Prior
	fence    uint64
	stamps   uint64 // the last stamp that was written

	served, commits, late int

	confirmed int // writes that a node has asked for
	failed    int // accesses that were abandoned
	lost      int // writes that a node was told may be lost
	gone      int // the writes that were not committed
}

// model is what is known of a node without asking its mirror.
type model struct {
	node    Node
	life    uint64 // the life that the home knows, 0 if it knows none
	joined  uint64 // the life that the node has
	lost    bool   // the home has given the life up
	over    bool   // so has the node
	asked   map[ID]Mode
	leaving map[ID]bool
	holds   map[ID]Stamp
	has     uint64 // one more than the version that the home need not send
	memory  uint64 // the same of the node's memory
	unsure  bool
	write   *outcome    // of the last write that was released, nil once it is known
	told    map[ID]Mode // granted by the home and not released
	old     [2]Message  // the last messages that arrived, from and to the mirror
	modes   map[ID]Mode
}

// tag names a request in a life.
type tag struct {
	node  Node
	life  uint64
	id    ID
	fence uint64
}

// written names a message, and commitment is its expected effect.
type (
	written    struct{ node, life, seq uint64 }
	commitment struct {
		contents []byte // nil: nothing was written
		moved    int
		outcome  *outcome
	}
	// outcome is what became of a write whose Release has returned nil.
	outcome struct{ committed bool }
)

var chaosSeeds = rings.Seeds("coherence.seeds", 400, 48_000, "TestProtocolChaos: seeds")

const actions = 400

// play plays a run, and returns the first thing that was wrong.
func play(chance func(n int) int, flaw string) (c *chaos, err error) {
	c = &chaos{chance: chance, flaw: flaw, due: make(map[tag]uint64), written: make(map[written]commitment)}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	c.calm = chance(2) == 0
	c.protocol = newProtocol(32, 3, new(Ledger), MirrorOptions{})
	c.queue.late = chance(2) == 0
	c.queue.granted = c.onQueueGrants
	c.sent, c.granted, c.ended, c.protocol.lost = c.onSent, c.onGranted, c.onEnded, c.onWriteLost
	c.versions = [][]byte{make([]byte, 32)}
	for n := range 4 {
		c.places = append(c.places, &model{node: Node(n), joined: 1})
		c.places[n].clear()
	}
	for range actions {
		c.act()
	}
	c.drain()
	return c, nil
}

func (m *model) clear() {
	m.asked, m.leaving, m.holds = make(map[ID]Mode), make(map[ID]bool), make(map[ID]Stamp)
	m.modes = make(map[ID]Mode)
}

// check panics with a message unless so.
func (c *chaos) check(so bool, format string, args ...any) {
	if !so {
		panic(violation(format, args...))
	}
}

func (c *chaos) note(format string, args ...any) {
	c.trace = append(c.trace, fmt.Sprintf(format, args...))
}

// In every schedule a writer is alone, every holder sees what was committed before its
// turn, no commit is lost, and no byte moves twice. A released write is committed, or its
// node is told that it may be lost.
func TestProtocolChaos(t *testing.T) {
	rings.Computes(t)
	first, n := chaosSeeds.Span()
	sum := playAll(t, first, n)
	if first == 0 { // a share need not have enough of everything
		sum.enough(t, n)
	}
}

// TestRareStates plays the same seeds in each change. They reach every rare state: a share of
// TestProtocolChaos need not.
func TestRareStates(t *testing.T) {
	rings.Computes(t)
	rings.Needs(t, rings.Change)
	const runs = 3000
	invariant.Reached()
	sum := playAll(t, 0, runs)
	sum.enough(t, runs)
	mustReach(t, rare)
}

// sums are what the runs of some seeds have seen.
type sums struct {
	served, commits, late, confirmed, lost, gone int
}

// playAll plays n seeds.
func playAll(t *testing.T, first uint64, n int) (sum sums) {
	t.Helper()
	for seed := first; seed < first+uint64(n); seed++ {
		c, err := play(rand.New(rand.NewPCG(seed, 1)).IntN, "")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, lines(c.trace))
		}
		sum.served, sum.commits, sum.late = sum.served+c.served, sum.commits+c.commits, sum.late+c.late
		sum.confirmed = sum.confirmed + c.confirmed
		sum.lost, sum.gone = sum.lost+c.lost, sum.gone+c.gone
	}
	t.Logf("%d runs: %d accesses, %d writes, %d late releases", n, sum.served, sum.commits, sum.late)
	t.Logf("%d writes were confirmed, %d may be lost, %d of them are", sum.confirmed, sum.lost, sum.gone)
	return sum
}

// enough fails the test if some runs have seen too little.
func (s sums) enough(t *testing.T, runs int) {
	t.Helper()
	for what, n := range map[string]int{
		"accesses": s.served / 20, "writes": s.commits / 5, "late releases": s.late * 5,
		"confirmed writes": s.confirmed * 2, "lost writes": s.gone * 20, "writes that only may be lost": (s.lost - s.gone) * 2,
	} {
		if n < runs/4 {
			t.Errorf("too few %s: the test shows little", what)
		}
	}
}

// The same, with runs that rapid makes smaller when they fail.
func TestProtocolChaosRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chance := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "chance") }
		if c, err := play(chance, ""); err != nil {
			t.Fatalf("%v\n%s", err, lines(c.trace))
		}
	})
}

// The test finds each of these planted flaws.
func TestProtocolChaosFindsFlaws(t *testing.T) {
	rings.Computes(t)
	for _, flaw := range []string{"no fence", "all is dirty", "no versions", "lost write", "forgets", "late answer"} {
		t.Run(flaw, func(t *testing.T) {
			for seed := range uint64(1000) {
				if _, err := play(rand.New(rand.NewPCG(seed, 1)).IntN, flaw); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}

func lines(trace []string) string {
	var b bytes.Buffer
	for _, line := range trace {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// rare are the states that some seed of TestRareStates must reach.
var rare = []string{
	"a cancel crosses the grant",
	"a release of a life that is over",
	"a write of a life that is over",
	"a new life comes while the old one holds",
	"an orphaned guest is granted",
	"the answer to a question comes after another write",
	"a lost write is reported, and committed all the same",
	"a message is spoilt",
	"memory is swapped",
}

// mustReach fails the test for each state that was not reached since the last call of
// Reached. An ordinary build does not count: go test -tags invariants, as CI does.
func mustReach(t *testing.T, states []string) {
	t.Helper()
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range states {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
		t.Logf("%6d times: %s", reached[s], s)
	}
}

// One node has thousands of readers behind a writer. All are granted at once, by two
// messages, and they end in any order.
func TestProtocolCrowd(t *testing.T) {
	rings.Computes(t)
	const crowd = mostGranted + 900
	invariant.Reached()
	chance := rand.New(rand.NewPCG(1, 1))
	p := newProtocol(8, 1, new(Ledger), MirrorOptions{})
	n := p.nodes[1]
	stamps := make(map[ID]Stamp)
	p.granted = func(_ Node, id ID, s Stamp) { stamps[id] = s }
	messages := 0
	p.sent = func(m *Message, _ bool) {
		if m.Kind == GrantMessage {
			messages++
		}
	}
	move := func() {
		for len(n.toHome)+len(n.toMirror) > 0 {
			for _, link := range []*[]Message{&n.toHome, &n.toMirror} {
				all := *link
				*link = nil
				for i := range all {
					do := p.toHome
					if link == &n.toMirror {
						do = p.toMirror
					}
					if err := do(&all[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	const own = crowd + 1
	p.locally(func() { p.queue.request(own, Write) })
	for id := range ID(crowd) {
		if err := p.atMirror(n, func(w *Work) error { return n.mirror.Request(id, Read, nil, w) }); err != nil {
			t.Fatal(err)
		}
	}
	move()
	p.locally(func() { p.queue.release(own) })
	move()
	if delete(stamps, own); len(stamps) != crowd || messages != 2 {
		t.Fatalf("%d of %d readers are granted, by %d messages, want 2", len(stamps), crowd, messages)
	}
	for _, id := range chance.Perm(crowd) {
		a := Access{ID: ID(id), Fence: stamps[ID(id)].Fence}
		if err := p.atMirror(n, func(w *Work) error { return n.mirror.Release(a, w) }); err != nil {
			t.Fatal(err)
		}
		if n.mirror.Holds(a.ID) {
			t.Fatalf("%d holds after its release", id)
		}
	}
	move()
	if len(p.queue.all) != 0 || p.home.Holds(1) != 0 || n.mirror.requests.index != nil {
		t.Errorf("%d requests stay in the queue, %d hold, index %v", len(p.queue.all), p.home.Holds(1), n.mirror.requests.index)
	}
	mustReach(t, []string{"a register gets an index", "a grant takes two messages"})
}
