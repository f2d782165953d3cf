package resource

// A mirror may keep its release if its granted request is alone in the line. The mirror
// sends the release with its next request, in one message. When another request starts to
// wait, the home recalls the release. This costs one round trip. So alone also means that
// the same mirror had the access before.

// Wanted says that a request waits, perhaps for a mirror that was granted alone. The line
// calls it. Outside a step, the line then calls Flush.
func (h *Home) Wanted() { h.wanted = h.lonely > 0 }

// want recalls the releases of mirrors that were granted alone.
func (h *Home) want() {
	h.wanted = false
	for _, p := range h.peers {
		if p.alone {
			h.setAlone(p, false)
			h.to(p, WantedMessage)
		}
	}
}

func (h *Home) setAlone(p *peer, alone bool) {
	if p.alone != alone {
		p.alone = alone
		if alone {
			h.lonely++
		} else {
			h.lonely--
		}
	}
}

// mayKeep reports whether a grant of a mode may be held for longer than it is used. If
// the node is lost meanwhile, it is a holder that is lost: where that has
// consequences, nothing is kept.
func (h *Home) mayKeep(m Mode) bool { return m == Read || h.ledger.policy == Discard }
