package placement

import (
	"fmt"
	"io"
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
