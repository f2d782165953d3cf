package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/topology"
)

// Why tells in words why a task is where it is: its rank and the elements around
// it, which neighbours it shares them with and what weight that keeps near, what
// is far, and what another rank would cost. The error matches [ErrUnknownTask].
func (p *Placement) Why(task string) (string, error) {
	v, err := p.graph.index(task)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	r := p.Rank[v]
	fmt.Fprintf(&b, "Task %s is on rank %d: %s.\n", task, r, p.path(r))
	near := p.neighbours(v)
	var total, kept int64
	for _, n := range near {
		total += n.weight
	}
	if total == 0 {
		b.WriteString("It has no neighbours: any rank would do.\n")
		return b.String(), nil
	}
	var c columns
	c.row("its neighbours in", ">weight", ">share", ">so far", ">cost", "which")
	for d, n := range near {
		kept += n.weight
		where := p.element(r, p.tree.Levels()+1-d)
		if d > 0 {
			where = "the rest of " + where
		}
		c.row(where, number(n.weight), percent(n.weight, total), percent(kept, total), number(int64(d)*n.weight), someOf(n.names, 8))
	}
	if err := c.writeTo(&b, "  "); err != nil {
		return "", err
	}
	b.WriteString(p.elsewhere(v))
	return b.String(), nil
}

// neighbourhood is the neighbours of a task at one distance.
type neighbourhood struct {
	weight int64
	names  []string // the heaviest links first
}

// neighbours sorts the neighbours of task v by distance, 0..N.
func (p *Placement) neighbours(v int) []neighbourhood {
	l := p.links
	row := make([]int, 0, l.start[v+1]-l.start[v])
	for k := l.start[v]; k < l.start[v+1]; k++ {
		row = append(row, k)
	}
	slices.SortStableFunc(row, func(i, j int) int { return cmp.Compare(l.weight[j], l.weight[i]) })
	near := make([]neighbourhood, p.tree.Levels()+1)
	for _, k := range row {
		n := &near[distance(p.tree, p.Rank[v], p.Rank[l.to[k]])]
		n.weight += l.weight[k]
		n.names = append(n.names, p.graph.Name(int(l.to[k])))
	}
	return near
}

// elsewhere says what the best other rank would cost task v, and why it is not there.
// It tries only the ranks of v's neighbours: another rank is at least as far from every
// neighbour as the nearest of these.
func (p *Placement) elsewhere(v int) string {
	here := p.Rank[v]
	now := p.costAt(v, here)
	best, least := here, now
	for k := p.links.start[v]; k < p.links.start[v+1]; k++ {
		r := p.Rank[p.links.to[k]]
		if cost := p.costAt(v, r); cost < least {
			best, least = r, cost
		}
	}
	if best == here {
		return fmt.Sprintf("It costs %d here, and no rank would cost it less.\n", now)
	}
	text := fmt.Sprintf("It costs %d here and would cost %d on rank %d (%s)", now, least, best, p.path(best))
	loads, w := p.Loads(), p.links.load[v]
	switch {
	case loads[best]+w > p.Limit:
		text += ", which is full"
	case loads[here]-w < p.Floor:
		text += fmt.Sprintf(", but rank %d would be left with too little", here)
	default:
		return text + ", which has room: the search did not get to this move.\n"
	}
	u, change, found := p.bestTrade(v, best, loads)
	switch {
	case !found:
		return text + "; no task there could trade places with it.\n"
	case change >= 0:
		return text + fmt.Sprintf(";\nthe best trade, with task %s, would add %d to the whole.\n", p.graph.Name(u), change)
	}
	return text + fmt.Sprintf(";\ntrading places with task %s would take %d off the whole: the search did not get to it.\n", p.graph.Name(u), -change)
}

// bestTrade is the task on rank r that could change places with v at the least
// cost to the whole.
func (p *Placement) bestTrade(v int, r topology.Rank, loads []int64) (u int, change int64, found bool) {
	l, here := p.links, p.Rank[v]
	atOther := p.costAt(v, r) - p.costAt(v, here)
	for t, at := range p.Rank {
		if at != r {
			continue
		}
		more := l.load[t] - l.load[v] // for here
		if loads[here]+more > p.Limit || loads[r]-more > p.Limit || loads[here]+more < p.Floor || loads[r]-more < p.Floor {
			continue
		}
		c := atOther + p.costAt(t, here) - p.costAt(t, r)
		for k := l.start[t]; k < l.start[t+1]; k++ {
			if int(l.to[k]) == v { // each went where the other no longer is
				c += 2 * l.weight[k] * int64(distance(p.tree, here, r))
			}
		}
		if !found || c < change {
			u, change, found = t, c, true
		}
	}
	return u, change, found
}

// costAt is what the links of task v would cost if it were on rank r.
func (p *Placement) costAt(v int, r topology.Rank) (sum int64) {
	for k := p.links.start[v]; k < p.links.start[v+1]; k++ {
		sum += p.links.weight[k] * int64(distance(p.tree, r, p.Rank[p.links.to[k]]))
	}
	return sum
}

func percent(part, whole int64) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}
