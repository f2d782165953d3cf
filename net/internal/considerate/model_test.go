package considerate

import (
	"iter"
	"time"
)

// A machine is a small model of processors, their scheduler and a FIFO lock, in virtual
// time. Ranks take turns as fast as they can. A processor runs one rank at a time, for
// a time slice at most. A rank that waits looks for a while and then sleeps.
type machine struct {
	costs
	now   time.Duration
	end   time.Duration
	order int // of events at one time
	idle  int // processors
	all   []*rank
	ready []*rank // for a processor
	queue []*rank // for the lock, the holder first
}

// costs is what a scheduler takes for what it does.
type costs struct {
	processors int
	slice      time.Duration // a rank loses its processor after that, if another is ready
	change     time.Duration // a processor goes from one rank to the next
	wake       time.Duration // of the rank that wakes another one
	startle    time.Duration // until a sleeping rank is ready
	look       time.Duration // a rank that waits looks for so long
	turn       time.Duration // with the lock, and without it
	pass       time.Duration // the lock reaches a rank that looks
	slack      time.Duration // each sleep takes longer by so much
	yields     bool          // a rank that offers its processor loses it, if another is ready
	first      bool          // a rank that was woken is the first of those that are ready
	away       time.Duration // the first turn takes so long: something else has the processor
}

// An op is what a rank does until it asks again: run for a time, look for a time or
// until it has the lock, sleep for a time, sleep until it has the lock, or offer its
// processor.
type op struct {
	kind kind
	long time.Duration
}

const never time.Duration = 1 << 60

type kind int

const (
	running kind = iota
	looking
	sleeping
	blocked
	offering
)

// rank is one contender. next is its program, one op at a time.
type rank struct {
	m       *machine
	next    func() (op, bool)
	op      op
	since   time.Duration // its op began to run, or go on
	on      bool          // a processor
	slice   time.Duration // when it ends
	at      time.Duration // its event happens, or never
	order   int
	has     bool // the lock
	turns   int
	turns0  int // before the outcome counts
	sleeps  int // for a turn
	longest time.Duration
	last    time.Duration // when it had its last turn
}

// after makes the rank's event happen after d, instead of any other that it had.
func (r *rank) after(d time.Duration) {
	r.m.order++
	r.at, r.order = r.m.now+d, r.m.order
}

// wait puts the rank into the scheduler's queue.
func (r *rank) wait() {
	if r.m.first {
		r.m.ready = append([]*rank{r}, r.m.ready...)
	} else {
		r.m.ready = append(r.m.ready, r)
	}
	r.m.dispatch()
}

// leave takes the rank from its processor.
func (r *rank) leave() {
	r.on, r.at = false, never
	r.m.idle++
	r.m.dispatch()
}

func (m *machine) dispatch() {
	for m.idle > 0 && len(m.ready) > 0 {
		r := m.ready[0]
		m.ready = m.ready[1:]
		m.idle--
		r.on, r.slice = true, m.now+m.change+m.slice
		r.since = m.now + m.change
		r.after(m.change + r.left())
	}
}

// left is how long the rank's op takes, if it runs and nothing happens.
func (r *rank) left() time.Duration {
	if r.op.kind == looking && r.has {
		return r.m.pass
	}
	return min(r.op.long, r.m.slice)
}

// happen is the rank's event.
func (r *rank) happen() {
	m := r.m
	if !r.on {
		r.op = op{kind: running} // it has slept enough, or was woken
		r.wait()
		return
	}
	r.op.long -= m.now - r.since
	if r.op.long > 0 && !(r.op.kind == looking && r.has) { // the slice has ended
		r.since = m.now
		r.preempt()
		return
	}
	for r.on {
		next, ok := r.next()
		if !ok {
			r.leave()
			return
		}
		r.op, r.since = next, m.now
		switch next.kind {
		case sleeping:
			r.leave()
			r.after(next.long + m.slack)
		case blocked:
			r.leave()
		case offering:
			r.op = op{kind: running, long: m.change}
			if m.yields {
				r.preempt()
			} else {
				r.after(r.left())
			}
			return
		default:
			if m.now >= r.slice && len(m.ready) > 0 {
				r.preempt()
			} else {
				r.after(r.left())
			}
			return
		}
	}
}

// preempt gives the processor to the rank that is ready for longest.
func (r *rank) preempt() {
	if len(r.m.ready) == 0 {
		r.slice = r.m.now + r.m.slice
		r.after(r.left())
		return
	}
	r.m.ready = append(r.m.ready, r)
	r.leave()
}

// grant gives the lock to the rank, which waits for it.
func (r *rank) grant() {
	r.has = true
	switch {
	case r.op.kind == blocked && !r.on:
		r.after(r.m.startle)
	case r.op.kind == looking && r.on:
		r.after(r.m.pass)
	}
}

// program is a rank that takes turns, and follows the rule of a crowd if there is one.
func (r *rank) program(crowd *Crowd) iter.Seq[op] {
	return func(yield func(op) bool) {
		m, again, asked, slept := r.m, 0, 0, false
		var rule Rank
		if crowd != nil {
			rule = crowd.Rank()
		}
		for handed := false; m.now < m.end; {
			if m.ruled(crowd) && (handed || again > 0 && r.turns-asked >= again) {
				act := rule.Returns(r.turns-asked, slept, m.now+1)
				for asked = r.turns; act.Do != GoOn; act = rule.Next(m.now + 1) {
					switch act.Do {
					case Spin:
						yield(op{running, m.pass / 2})
					case Offer:
						yield(op{kind: offering})
					case Sleep:
						yield(op{sleeping, act.For})
					}
				}
				if act.Look {
					slept = false
				}
				again = rule.Again()
			}
			m.queue = append(m.queue, r)
			if r.has = m.queue[0] == r; !r.has {
				if yield(op{looking, m.look}); !r.has {
					r.sleeps++
					yield(op{kind: blocked})
					slept = true
				} else {
					slept = false
				}
			}
			yield(op{running, m.turn + m.away})
			m.away = 0
			r.turns++
			r.longest, r.last = max(r.longest, m.now-r.last), m.now
			r.has, m.queue = false, m.queue[1:]
			if handed = len(m.queue) > 0; handed {
				next := m.queue[0]
				asleep := next.op.kind == blocked
				next.grant()
				if m.ruled(crowd) {
					rule.HandedOver(m.now + 1)
				}
				if asleep {
					yield(op{running, m.wake})
				}
			}
			yield(op{running, m.turn})
		}
	}
}

// ruled reports whether ranks of the crowd follow the rule by now. At first there is
// none, so that the convoy forms.
func (m *machine) ruled(crowd *Crowd) bool { return crowd != nil && m.now >= 2*m.slice }

// until makes events happen until the end.
func (m *machine) until(end time.Duration) {
	for {
		first := m.all[0]
		for _, r := range m.all[1:] {
			if r.at < first.at || r.at == first.at && r.order < first.order {
				first = r
			}
		}
		if first.at >= end {
			m.now = end
			return
		}
		m.now, first.at = first.at, never
		first.happen()
	}
}
