package resource

// A mirror to which a request is granted that is alone in the line may keep its
// release, which then is one message with its next request. Who comes to wait
// meanwhile has it asked for: that costs a way there and back, which is why alone
// means, too, that the same mirror had the access before.

// Wanted says that somebody waits, who may wait for a mirror that was granted
// something alone. The line calls it, and if not from inside of a step, then Flush.
func (h *Home) Wanted() { h.wanted = h.lonely > 0 }

// want asks for what mirrors were granted alone.
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
