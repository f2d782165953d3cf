package sim

// choice is an event that can happen next.
type choice struct {
	kind   choiceKind
	rank   *rank   // the rank that steps, notices, crashes or is cancelled; the origin of a flight
	flight *flight // the operation that arrives
}

type choiceKind uint8

const (
	chooseStep choiceKind = iota
	chooseArrival
	chooseNotice // a rank learns that a peer is lost
	chooseCrash
	chooseCancel
)

// enabled lists what can happen now. The order is the same in every run.
func (x *explorer) enabled() []choice {
	x.choices = x.choices[:0]
	x.held = false
	for _, r := range x.ranks {
		if r.phase != blocked {
			continue
		}
		switch {
		case x.faults.paused(x, r):
			x.held = true
		case x.ready(r):
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	for _, f := range x.flights {
		if x.faults.delayed(x, f) {
			x.held = true
			continue
		}
		x.choices = append(x.choices, choice{kind: chooseArrival, rank: f.origin, flight: f})
	}
	x.faults.offer(x)
	if len(x.choices) == 0 {
		return x.fallback()
	}
	return x.choices
}

// fallback finds choices when nothing is enabled. It ends the faults that hold
// something back, or lets a pausing rank look again although nothing has changed.
func (x *explorer) fallback() []choice {
	if x.held {
		x.faults.lift()
		return x.enabled()
	}
	if x.rechecks++; x.memory.version != x.recheckVersion {
		x.rechecks, x.recheckVersion = 0, x.memory.version
	}
	for _, r := range x.ranks {
		if r.phase == blocked && r.request.kind == opPause {
			x.choices = append(x.choices, choice{kind: chooseStep, rank: r})
		}
	}
	return x.choices
}

// ready reports whether a blocked rank can take a step.
func (x *explorer) ready(r *rank) bool {
	q := &r.request
	switch {
	case r.window.err != nil:
		return true
	case q.kind == opAwait:
		return q.ctx.Err() != nil || q.until.Holds(x.memory.load(q.target, q.disp))
	case q.kind == opPause:
		return r.seen != x.memory.version
	case q.kind == opFlush || q.kind == opFlushAll:
		return false // arrive resumes the rank after its last arrival
	}
	return true
}

// stranded reports whether the contract promises none of the choices. Two kinds of
// choice come without a promise: an operation may arrive although no rank flushes
// it, and a rank may go on although no rank woke it. If only such choices are left,
// ranks that wait may wait for ever.
func (x *explorer) stranded(choices []choice) bool {
	for _, c := range choices {
		unflushed := c.kind == chooseArrival && !c.rank.flushes(c.flight.target)
		if !unflushed && !(c.kind == chooseStep && x.unwoken(c.rank)) {
			return false
		}
	}
	for _, r := range x.ranks {
		if r.phase == blocked {
			return !x.held
		}
	}
	return false
}
