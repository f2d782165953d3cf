package coherence

import "slices"

// breakSomething breaks a node or a link, or ends a life.
func (c *chaos) breakSomething(n *model) {
	if n.node == 0 {
		return
	}
	link := c.nodes[n.node]
	switch c.chance(3) {
	case 0:
		c.homeLoses(n)
	case 1: // the node loses its link, with some of what is under way
		if n.over {
			return
		}
		c.note("%d loses the home", n.node)
		link.toHome = link.toHome[:c.chance(len(link.toHome)+1)]
		link.toMirror = link.toMirror[:c.chance(len(link.toMirror)+1)]
		_ = c.step(n, func(r *Mirror, w *Work) error { r.Lost(nil, w); return nil })
		c.nodeOver(n)
	default: // the node starts again
		c.note("%d starts again", n.node)
		link.toHome = link.toHome[:c.chance(len(link.toHome)+1)]
		link.toMirror = nil
		n.joined++
		n.over, n.memory, n.unsure, n.write = false, 0, false, nil
		n.clear()
		c.stale = slices.DeleteFunc(c.stale, func(t tag) bool { return t.node == n.node })
		c.restart(link, MirrorOptions{Resource: 7, Node: n.node, Limit: 1 << 10, Incarnation: n.joined})
	}
}

func (c *chaos) rejoin(n *model) {
	if !n.over {
		return
	}
	c.note("%d rejoins", n.node)
	n.joined++
	n.over = false
	err := c.nodes[n.node].mirror.Rejoin(n.joined)
	c.check(err == nil, "node %d rejoins: %v", n.node, err)
}

func (c *chaos) homeLoses(n *model) {
	c.note("the home loses %d", n.node)
	if n.life != 0 && !n.lost {
		c.dropped(n)
		n.lost = true
	}
	c.loses(n.node)
}

// drain ends everything: every request must be served.
func (c *chaos) drain() {
	c.note("now all comes to its end")
	for busy, turns := true, 0; busy; turns++ {
		c.check(turns < 1000, "it never ends")
		busy = len(c.queue.news) > 0
		for _, n := range c.places[1:] {
			if n.life != 0 && !n.lost && (n.life != n.joined || n.over) {
				c.homeLoses(n)
				busy = true
			}
		}
		c.pump()
		for link := range 6 {
			busy = c.deliver(link) || busy
		}
		for _, n := range c.places {
			for len(n.holds) > 0 {
				busy = true
				c.endOne(n, false)
			}
		}
	}
	c.comesToRest()
	c.check(len(c.queue.all) == 0, "%v are in the queue for ever", c.queue.all)
	for at, t := range c.home.guests {
		c.check(t.state == unused, "guest %d is for ever %+v", at, t)
	}
}

// comesToRest checks that no request waits.
func (c *chaos) comesToRest() {
	for _, n := range c.places {
		c.check(len(n.asked) == 0 && len(n.leaving) == 0, "node %d: %v wait and %v leave for ever", n.node, n.asked, n.leaving)
		if n.node > 0 {
			c.check(len(c.nodes[n.node].mirror.requests.all) == 0, "node %d's mirror keeps %v", n.node, c.nodes[n.node].mirror.requests.all)
		}
	}
}
