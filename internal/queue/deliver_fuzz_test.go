package queue

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// sampleMessages are messages that a site may get.
func sampleMessages() []coherence.Message {
	return []coherence.Message{
		{Kind: coherence.RequestMessage, ID: 1, Mode: Write, Known: 3},
		{Kind: coherence.RenewMessage, ID: 2, Old: 1, Stamp: coherence.Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8},
		{Kind: coherence.ReleaseMessage, ID: 1, Stamp: coherence.Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8},
		{Kind: coherence.ReleaseMessage, ID: 1, Reason: coherence.Abandoned},
		{Kind: coherence.CancelMessage, ID: 1},
		{Kind: coherence.JoinMessage},
		{Kind: coherence.GrantMessage, IDs: []coherence.ID{1, 2}, Stamp: coherence.Stamp{Version: 5, Fence: 6}, Whole: true, Size: 8},
		{Kind: coherence.GrantMessage, IDs: []coherence.ID{2}, Stamp: coherence.Stamp{Version: 7}, Whole: true, Size: 8},
		{Kind: coherence.RefusedMessage, Reason: coherence.Ended},
		{Kind: coherence.ConfirmedMessage, Stamp: coherence.Stamp{Fence: 1}},
		{Kind: coherence.ConfirmMessage, Stamp: coherence.Stamp{Fence: 3}},
		{Kind: coherence.ConfirmedMessage, Stamp: coherence.Stamp{Fence: 3}},
	}
}

// A changed header is refused, or is another message. It never panics, whatever the
// site and its state.
func FuzzDeliver(f *testing.F) {
	for _, m := range sampleMessages() {
		m.Resource, m.Incarnation, m.Seq = numberOf("r"), 1<<lifeBits, 2
		f.Add(coherence.AppendHeader(nil, &m), []byte("12345678"), uint64(1))
	}
	f.Fuzz(func(t *testing.T, header, bulk []byte, seed uint64) {
		n := newNetwork(2, SiteOptions{Limit: 1 << 10, Kept: 4096})
		r := n.share(t, "r", 8, 0, Options{})
		rng := rand.New(rand.NewPCG(seed, 1))
		var places [4]Place
		for i := range places {
			fine(t, places[i].Request(r[i%2], Mode(rng.IntN(2))))
			for range rng.IntN(3) {
				if all := n.busy(); len(all) > 0 {
					fine(t, n.move(all[0]))
				}
			}
		}
		for from, s := range n.sites {
			_, _ = s.Deliver(Node(1-from), header, Bulk{Bytes: bulk})
		}
	})
}
