package coherence

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

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
		if n.mirror.Holds(a.ID) || n.mirror.Requests() != len(n.mirror.requests.all) {
			t.Fatalf("%d holds after its release", id)
		}
	}
	move()
	if len(p.queue.all) != 0 || p.home.Holds(1) != 0 || n.mirror.requests.index != nil {
		t.Errorf("%d requests stay in the queue, %d hold, index %v", len(p.queue.all), p.home.Holds(1), n.mirror.requests.index)
	}
	mustReach(t, []string{"a register gets an index", "a grant takes two messages"})
}
