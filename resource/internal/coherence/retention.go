package coherence

import "github.com/orwl/go-orwl/internal/invariant"

// A mirror that accesses the resource again and again, and meets no other request there,
// retains the release of an access that wrote nothing. It sends the release with its next
// request, in one message. When another request waits, the home recalls the release, which
// costs one round trip. So the home allows it only after two accesses of a mirror in a row.
//
//	            granted alone             another request waits
//	none ─────────────────────▶ retained ───────────────────────▶ recalled
//	  ▲                            │                                 │
//	  └──── the release, or another grant, or the loss of either ────┘

// retention is whether the mirror may retain its release.
type retention uint8

const (
	noRetention retention = iota
	retained              // the mirror may retain it, or does
	recalled              // the home has asked for it
)

// Recall asks for all releases that mirrors may retain, since a request waits.
func (h *Home) Recall(w *Work) {
	if h.retained == 0 {
		return
	}
	for _, p := range h.peers {
		if p.retention == retained {
			h.setRetention(p, recalled)
			h.to(p, RecallMessage, w)
		}
	}
}

func (h *Home) setRetention(p *peer, to retention) {
	if p.retention == retained {
		h.retained--
	}
	if p.retention = to; to == retained {
		h.retained++
	}
}

// retain keeps the release of an access for the next request, and reports whether it does.
// It does so if this node has no other request, the access wrote nothing, and no other node
// waits.
func (r *Mirror) retain(a Access) bool {
	if !r.o.Retain || r.retention != retained || len(r.requests.all) > 1 || a.Wrote || a.Abandoned {
		return false
	}
	r.requests.remove(a.ID)
	r.holders--
	r.keptID, r.keptFence, r.keeps = a.ID, a.Fence, true
	return true
}

// Settle sends the release that is retained, if there is one.
func (r *Mirror) Settle(w *Work) {
	if r.keeps {
		r.keeps = false
		msg := r.to(ReleaseMessage, w)
		msg.ID, msg.Fence = r.keptID, r.keptFence
	}
}

// recalled takes the home's word that another request waits.
func (r *Mirror) recalled(w *Work) {
	invariant.Sometimes(!r.keeps && r.retention == retained && r.holders == 0, "a recall crosses the renewal")
	invariant.Sometimes(!r.keeps && r.holders > 0, "a recall comes while the access goes on")
	r.retention = recalled
	if from := len(w.Messages); r.keeps {
		r.Settle(w)
		w.Messages[from].Recalled = true
	}
}

// Keeps reports whether there is a release for Settle to send.
func (r *Mirror) Keeps() bool { return r.keeps }
