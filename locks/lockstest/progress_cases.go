package lockstest

import (
	"strings"

	"github.com/orwl/go-orwl/locks"
)

// A waiter gets the lock in the end.
var progressCases = []Case{
	{Name: "progress/hand-over", Ranks: 2, act: progressHandOver},
	{Name: "progress/everybody", Ranks: 3, act: progressEverybody},
}

// progressHandOver lets each rank wait for the rank before it. A holder releases as
// soon as the next rank is about to wait.
func progressHandOver(p *player) {
	const held, waits = 0, 1
	modes := p.modes()
	const turns = 6
	for round := range turns {
		turn := round*p.ranks + int(p.me)
		m := modes[turn%len(modes)]
		next := modes[(turn+1)%len(modes)]
		p.hear(held, turn)
		switch {
		case turn == 0 || m == read && modes[(turn+len(modes)-1)%len(modes)] == read:
			p.acquire(m)
		default:
			p.acquireTelling(m, waits)
		}
		p.tell(held)
		if last := turn == turns*p.ranks-1; !last && !(m == read && next == read) {
			p.hear(waits, turn+1)
		}
		p.release(m)
	}
}

// progressEverybody lets all ranks come at once, again and again.
func progressEverybody(p *player) {
	modes := p.modes()
	for round := range 6 {
		p.meet()
		p.section(modes[(round+int(p.me))%len(modes)])
	}
}

// Ranks get the lock in the order in which they queue up.
var orderCases = []Case{
	{Name: "order/fifo", Ranks: 3, needs: fifo, act: orderFIFO},
}

// The signals of orderFIFO.
const (
	queuedUp = iota
	served
)

// orderFIFO lets ranks queue up one after the other behind a holder, in another order
// each round.
func orderFIFO(p *player) {
	for round := range 6 {
		base := round * p.ranks
		place := (int(p.me)*(1+round%2*(p.ranks-2)) + round) % p.ranks // a permutation: forwards or backwards
		p.hear(queuedUp, base+place)
		if place == 0 {
			p.acquire(write)
			p.tell(queuedUp)
			p.hear(queuedUp, base+p.ranks)
		} else {
			p.acquireTelling(write, queuedUp)
		}
		p.equal(uint64(p.tell(served)), uint64(base+place), "in round %d, the position at which the rank gets the lock that queued up at position %d", round, place)
		p.release(write)
		p.meet()
	}
}

// Other ranks overtake a waiter a bounded number of times.
var bypassCases = []Case{
	{Name: "bypass/queue", Ranks: 3, Rare: true, needs: fifo, act: bypassQueue},
	{Name: "bypass/locality", Ranks: 3, Rare: true, Levels: 2, needs: bounded, act: bypassLocality},
	{Name: "bypass/readers", Ranks: 3, Rare: true, needs: bound("TR"), act: bypassReaders, options: everyOther},
	{Name: "bypass/writers", Ranks: 3, Rare: true, needs: bound("TW"), act: bypassWriters},
	{Name: "bypass/head", Ranks: 3, Rare: true, needs: bound("StepBack"), act: bypassHead, options: steppingBack},
}

// steppingBack lets writers have the lock before they queue up.
func steppingBack(o *locks.Options) { o.StepBack = true }

// everyOther puts a counter of readers at every other rank.
func everyOther(o *locks.Options) { o.TDC = 2 }

// bounded reports whether a lock bounds how often ranks of one element get it while a
// rank of another element waits.
func bounded(s Subject) bool {
	return strings.HasPrefix(s.Spec.Fairness, "FIFO") || strings.HasPrefix(s.Spec.Fairness, "T_L")
}

// The signals of the bypass cases.
const (
	begun   = iota // ranks that have had the lock
	waiting        // the overtaken rank waits
	overtaken
	over // the overtaken rank has had the lock
)

// plenty bounds how often a rank tries to overtake. A right lock stops it after a few
// times.
const plenty = 120

// overtake acquires the lock again and again, until the overtaken rank has had it.
func (p *player) overtake(m mode) {
	for i := range plenty {
		p.acquire(m)
		if p.told(waiting) > 0 && p.told(over) == 0 {
			p.tell(overtaken)
		}
		if i == 0 {
			p.tell(begun)
		}
		p.release(m)
		if p.told(over) > 0 {
			return
		}
	}
}

// isOvertaken acquires the lock while other ranks use it. It returns how often they
// overtook it after it had begun to wait. It returns zero if it did not wait.
func (p *player) isOvertaken(m mode) int {
	p.hear(begun, 1)
	p.scout.stays = func() { p.tell(waiting) }
	p.acquire(m)
	n := p.told(overtaken)
	p.tell(over)
	p.release(m)
	p.scout.stays = nil
	return n
}

// bypassQueue lets one rank wait in a queue that all other ranks want to join.
func bypassQueue(p *player) {
	if p.me > 0 {
		p.overtake(write)
		return
	}
	if n, most := p.isOvertaken(write), p.ranks-1; n > most {
		p.fail("overtaken %d times while it queued up, want at most %d: the ranks before it", n, most)
	}
}

// bypassLocality lets one rank of an element wait, while all ranks of another element
// want the lock. The other ranks of its own element do nothing. As soon as it waits,
// it is in the queue above.
func bypassLocality(p *player) {
	last := p.tree.Elements(2) - 1
	x := p.tree.TailRank(2, last)
	switch {
	case p.me == x:
		n, most := p.isOvertaken(write), 1
		for _, tl := range p.options.TL[min(1, len(p.options.TL)):] {
			most *= tl
		}
		switch fifo := strings.HasPrefix(p.subject.Spec.Fairness, "FIFO"); {
		case fifo && p.options.TL == nil:
			most = p.ranks
		case fifo: // ranks stand for themselves beside their element
			most += p.ranks - 1
		}
		if n > most {
			p.fail("overtaken %d times by ranks of another element, want at most %d", n, most)
		}
	case p.tree.Element(p.me, 2) == 0:
		p.overtake(write)
	}
}

// bypassReaders lets a writer wait while all other ranks read.
func bypassReaders(p *player) {
	if p.me > 0 {
		p.overtake(read)
		return
	}
	// Each reader may get the lock before the writer waits, and count itself after.
	counters := 0
	for range p.tree.Counters(p.options.TDC) {
		counters++
	}
	if n, most := p.isOvertaken(write), p.options.TR*counters+p.ranks-1; n > most {
		p.fail("%d readers overtake a writer, want at most %d: T_R = %d at each of %d counters, and %d that are inside",
			n, most, p.options.TR, counters, p.ranks-1)
	}
}

// bypassWriters lets a reader wait while all other ranks write.
func bypassWriters(p *player) {
	if p.me > 0 {
		p.overtake(write)
		return
	}
	// The writer inside may get the lock before the reader waits, and count itself after.
	if n, most := p.isOvertaken(read), p.options.TW+1; n > most {
		p.fail("%d writers overtake a reader, want at most %d: T_W = %d and one that is inside", n, most, p.options.TW)
	}
}

// bypassHead lets a writer wait that is first in the queues, until the writer inside
// releases. As soon as it waits, all other ranks come.
func bypassHead(p *player) {
	switch p.me {
	case 0:
		if n := p.isOvertaken(write); n > 0 {
			p.fail("%d writers overtake it, though it had announced itself as the next", n)
		}
		return
	case 1:
		p.acquire(write)
		p.tell(begun)
		p.hear(waiting, 1)
		p.release(write)
	default:
		p.hear(waiting, 1)
	}
	p.overtake(write)
}
