package queue

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// tell is the program of the clock: first faults happen, then all ends well.
func (a *actor) tell() error {
	c := a.c
	for range 20 + c.chance(40) {
		for range c.chance(12) {
			a.pause()
		}
		a.tick(Node(c.chance(3)))
	}
	for _, w := range c.ways {
		w.cut = false
	}
	for c.phase < runIsOver {
		a.enter(c.phase + 1)
		for rounds := 0; c.phase < runIsOver && !c.done(); rounds++ {
			c.check(rounds < 400, "waits for ever in phase %d: %s", c.phase, c.waiting())
			for n := range Node(3) {
				a.tick(n)
			}
			a.yield(rounds)
		}
	}
	return nil
}

// yield lets ranks of low priority run, too: a rank that takes so many steps in a row loses
// its own priority.
func (a *actor) yield(rounds int) {
	if rounds < 8 {
		return
	}
	for range 66 {
		a.pause()
	}
}

// enter begins a phase.
func (a *actor) enter(phase uint64) {
	c := a.c
	c.phase = phase
	c.note("phase %d", phase)
	for n := range rma.Rank(3) {
		a.fetch(n, bellWord, rma.Sum, aTick)
		a.fetch(3+n, phaseWord, rma.Replace, phase)
	}
	a.ringLinks()
}

func (a *actor) ringLinks() {
	for r := rma.Rank(6); r < 12; r++ {
		a.fetch(r, bellWord, rma.Sum, 1)
	}
}

// tick lets time pass for a node, and waits until its loop has seen that.
func (a *actor) tick(n Node) {
	c := a.c
	c.ticks[n]++
	a.fetch(rma.Rank(n), bellWord, rma.Sum, aTick)
	if c.phase == faultsHappen {
		for range c.chance(20) {
			a.pause()
		}
		a.mishap()
	}
	_ = a.await(context.Background(), rma.Rank(n), tickWord, rma.AtLeast(c.ticks[n]))
}

// mishap is what happens to nodes and ways.
func (a *actor) mishap() {
	c := a.c
	switch k := c.chance(100); {
	case k < 6:
		a.crash(c.nodes[c.chance(3)])
	case k < 16:
		c.note("way %d is cut", k%3)
		c.ways[k%3].cut = true
	case k < 30:
		c.ways[k%3].cut = false
		a.ringLinks()
	}
}

// crash ends the life of a node, wherever its ranks are, and begins the next.
func (a *actor) crash(n *simNode) {
	if n.life++; n.life > mostLives {
		panic("too many lives")
	}
	a.c.note("%d starts again", n.node)
	a.c.seen.crashes++
	n.start()
	n.alone()
	a.fetch(rma.Rank(n.node), bellWord, rma.Sum, aTick)
	a.fetch(3+rma.Rank(n.node), bedWord+rma.Disp(n.life-1), rma.Replace, 1)
}

// done reports whether the phase is over.
func (c *siteRun) done() bool {
	for _, n := range c.nodes {
		if n.done < c.phase || n.busy || len(n.inbox) > 0 {
			return false
		}
		for _, l := range c.links[n.node] {
			if l.loaded() {
				return false
			}
		}
	}
	return true
}

// waiting describes all nodes, for a run that does not go on.
func (c *siteRun) waiting() (text string) {
	for _, n := range c.nodes {
		text += fmt.Sprintf("\nnode %d: done %d, busy %t, inbox %d, task idle %d, ends %+v", n.node, n.done, n.busy, len(n.inbox), n.idle, n.ends)
		for i, p := range n.all() {
			text += fmt.Sprintf("\n  place %d of r%d: requested %t, held %t", i, p.at, p.Requested(), p.Held())
		}
		for to, l := range c.links[n.node] {
			text += fmt.Sprintf("\n  link to %d: %d queued, %d under way", to, len(l.queue), l.flying)
		}
	}
	return text
}
