package sim

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// Waiting in virtual time. A rank that awaits a word of its own memory, or of memory
// that it can cache, is notified of a change and looks again. On a machine with an
// agent, the rank leaves a request with the agent, which notifies it. Otherwise the
// rank polls, and pays for every poll.

// await begins an Await.
func (p *predictor) await(r *rank) bool {
	q := &r.request
	p.countRemote(r, q)
	if p.early(r, q) {
		return false
	}
	arrival := p.leave(r, q, r.now) + p.fare(r, q).half
	if arrival > p.agenda.next() {
		p.agenda.push(event{at: arrival, kind: eventLook, rank: r})
		return false
	}
	p.look(r, arrival)
	return false
}

// look handles the arrival of a rank's question whether its condition holds.
func (p *predictor) look(r *rank, at int64) {
	q := &r.request
	if r.window.err != nil {
		p.agenda.push(event{at: at, kind: eventResume, rank: r})
		return
	}
	half := p.fare(r, q).half
	at = p.turn(r, q, at)
	r.result = p.memory.load(q.target, q.disp)
	back := at + half
	holds := q.until.Holds(r.result)
	if !holds {
		r.failure = q.ended()
	}
	switch {
	case holds || r.failure != nil:
		p.unlist(r)
		p.agenda.push(event{at: back, kind: eventResume, rank: r})
	case p.notified(r, q.target):
		p.list(r)
		p.beginToLook(r, back)
	default:
		p.operations++
		p.remote++
		p.agenda.push(event{at: back, kind: eventDeparture, rank: r})
	}
}

// notified reports whether r is notified of changes of target's memory.
func (p *predictor) notified(r *rank, target rma.Rank) bool {
	return target == r.id || p.machine.Agent || p.costs[p.topology.Common(r.id, target)].coherent
}

// list adds r to the watchers of the word that it awaits.
func (p *predictor) list(r *rank) {
	if r.listed {
		return
	}
	r.listed = true
	q := &r.request
	if p.watch[q.target] == nil {
		p.watch[q.target] = make(map[rma.Disp][]*rank)
	}
	p.watch[q.target][q.disp] = append(p.watch[q.target][q.disp], r)
	if q.ctx != r.ctx && q.ctx.Done() != nil && !slices.Contains(p.abort, r) { // only faults end r.ctx
		p.abort = append(p.abort, r)
	}
}

// wakeCancelled ends the waits that the rank by has cancelled while it ran until now.
// by may have ended a context or closed the fabric. Neither changes a word.
func (p *predictor) wakeCancelled(by *rank) {
	if len(p.abort) > 0 || p.closed {
		p.endWaits(by)
	}
}

func (p *predictor) endWaits(by *rank) {
	if p.closed {
		p.closed = false
		for _, r := range p.ranks {
			p.recheck(r, by.now)
		}
	}
	p.abort = slices.DeleteFunc(p.abort, func(r *rank) bool {
		if r.listed && r.request.ctx.Err() != nil {
			p.recheck(r, by.now)
		}
		return !r.listed
	})
}

// unlist removes r from the watchers.
func (p *predictor) unlist(r *rank) {
	if !r.listed {
		return
	}
	r.listed = false
	q := &r.request
	list := p.watch[q.target][q.disp]
	if i := slices.Index(list, r); i >= 0 {
		p.watch[q.target][q.disp] = slices.Delete(list, i, i+1)
	}
}

// changed notifies the watchers of a word of a change at a time. It returns what that
// takes of the rank that made the change.
func (p *predictor) changed(target rma.Rank, disp rma.Disp, at int64) (takes int64) {
	list := p.watch[target][disp]
	for i := 0; i < len(list); i++ {
		r := list[i]
		holds := r.request.until.Holds(p.memory.load(target, disp))
		switch {
		case target != r.id && !p.machine.Agent && p.processors == nil:
			// The change invalidates r's cache line. r fetches the word again.
			p.agenda.push(event{at: at + p.fare(r, &r.request).half, kind: eventLook, rank: r})
			r.listed = false
		case holds:
			r.result = p.memory.load(target, disp)
			r.listed = false
			takes += p.awaken(r, target, at)
		default:
			continue
		}
		list = slices.Delete(list, i, i+1)
		i--
	}
	p.watch[target][disp] = list
	return takes
}

// awaken lets r go on, whose condition holds since a time. It returns what that takes of
// the rank that made the change.
func (p *predictor) awaken(r *rank, target rma.Rank, at int64) (takes int64) {
	if p.processors != nil {
		if r.slept = r.cpu == nowhere; r.slept {
			p.agenda.push(event{at: at + p.processors.wake, kind: eventResume, rank: r})
			return p.processors.wake
		}
		r.spin.Paid()
	}
	wake := p.wakeUp
	if target != r.id && p.processors == nil {
		wake = p.fare(r, &r.request).half
	} else if p.machine.Refetch {
		wake += 2 * p.fare(r, &r.request).half
	}
	p.touch(r, &r.request, p.topology.Common(r.id, target))
	p.agenda.push(event{at: at + wake, kind: eventResume, rank: r})
	return 0
}
