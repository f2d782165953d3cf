package placement

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orwl/go-orwl/net/topology"
)

// Summary writes what the placement costs beside blocks in order and round
// robin, and the weight by what joins the two tasks of an edge.
func (p *Placement) Summary(w io.Writer) error {
	pairs, weight := p.Links()
	ranks := p.tree.Ranks()
	if _, err := fmt.Fprintf(w, "%s, %s of weight %d, on %s (%s, at most %d on each)\n\n",
		counted(p.graph.Tasks, "task"), counted(pairs, "link"), weight, p.tree, counted(ranks, "rank"), p.Limit); err != nil {
		return err
	}
	var c columns
	head := []string{"", ">cost"}
	for d := range p.Cost.ByDistance {
		head = append(head, fmt.Sprintf(">same %s ×%d", p.tree.LevelName(p.tree.Levels()+1-d), d))
	}
	c.row(head...)
	for _, row := range []struct {
		name string
		cost Cost
	}{{"as placed", p.Cost}, {"blocks in order", p.InOrder}, {"round robin", p.RoundRobin}} {
		cells := []string{row.name, number(row.cost.Total)}
		for _, weight := range row.cost.ByDistance {
			cells = append(cells, number(weight))
		}
		c.row(cells...)
	}
	return c.writeTo(w, "")
}

// Report writes the summary and then, for the tasks of the given names, Why each
// is where it is; without names, a line for every rank and one for every task.
func (p *Placement) Report(w io.Writer, tasks ...string) error {
	var reasons []string
	for _, name := range tasks {
		why, err := p.Why(name)
		if err != nil {
			return err
		}
		reasons = append(reasons, why)
	}
	if err := p.Summary(w); err != nil {
		return err
	}
	if len(tasks) > 0 {
		_, err := io.WriteString(w, "\n"+strings.Join(reasons, "\n"))
		return err
	}
	for _, table := range []columns{p.rankTable(), p.taskTable()} {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := table.writeTo(w, ""); err != nil {
			return err
		}
	}
	return nil
}

// rankTable has a line for every rank: what it carries, and how much weight has
// both ends on it or leaves it.
func (p *Placement) rankTable() columns {
	stays, leaves := make([]int64, p.tree.Ranks()), make([]int64, p.tree.Ranks())
	for v, r := range p.Rank {
		for k := p.links.start[v]; k < p.links.start[v+1]; k++ {
			if u := int(p.links.to[k]); p.Rank[u] != r {
				leaves[r] += p.links.weight[k]
			} else if u > v {
				stays[r] += p.links.weight[k]
			}
		}
	}
	var c columns
	c.row(">rank", "where", ">tasks", ">load", ">weight that stays", ">that leaves")
	loads, tasks := p.Loads(), p.ByRank()
	for r := range topology.Rank(p.tree.Ranks()) {
		c.row(number(r), p.path(r), number(len(tasks[r])), number(loads[r]), number(stays[r]), number(leaves[r]))
	}
	return c
}

// taskTable has a line for every task: the weight to its neighbours by what
// joins it with them.
func (p *Placement) taskTable() columns {
	var c columns
	head := []string{"task", ">rank", "where"}
	for d := range p.Cost.ByDistance {
		head = append(head, ">same "+p.tree.LevelName(p.tree.Levels()+1-d))
	}
	c.row(append(head, "neighbours from near to far")...)
	for v, r := range p.Rank {
		cells := []string{p.graph.Name(v), number(r), p.path(r)}
		var names []string
		for _, n := range p.neighbours(v) {
			cells = append(cells, number(n.weight))
			names = append(names, n.names...)
		}
		c.row(append(cells, someOf(names, 6))...)
	}
	return c
}

// path names the elements that a rank is in, from coarse to fine, the machine
// aside.
func (p *Placement) path(r topology.Rank) string {
	var names []string
	for i := 2; i <= p.tree.Levels()+1; i++ {
		names = append(names, p.element(r, i))
	}
	return strings.Join(names, ", ")
}

// element names the element of level i that a rank is in, 1..N+1.
func (p *Placement) element(r topology.Rank, i int) string {
	switch i {
	case 1:
		return p.tree.LevelName(1)
	case p.tree.Levels() + 1:
		return fmt.Sprintf("%s %d", p.tree.LevelName(i), r)
	}
	return fmt.Sprintf("%s %d", p.tree.LevelName(i), p.tree.Element(r, i))
}

func number[T int | int64 | topology.Rank](n T) string { return strconv.FormatInt(int64(n), 10) }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// columns is a table for reading. Columns are as wide as they have to be; those
// that begin with > in the first row are numbers and stand to the right.
type columns [][]string

func (c *columns) row(cells ...string) { *c = append(*c, cells) }

// writeTo writes all rows, each after the given indent.
func (c columns) writeTo(w io.Writer, indent string) error {
	head := c[0]
	right := make([]bool, len(head))
	width := make([]int, len(head))
	for i := range head {
		head[i], right[i] = strings.CutPrefix(head[i], ">")
	}
	for _, row := range c {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range c {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range row {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if right[i] {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		if _, err := io.WriteString(w, strings.TrimRight(line.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// someOf joins the first n names and counts the rest.
func someOf(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, " ")
	}
	return strings.Join(names[:n], " ") + " and " + number(len(names)-n) + " more"
}

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
