package watch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// Table is figures at some moment: a row for each lock, or each volume of a hash table. The page shows few rows as lines, and a bar
// for each of many.
type Table struct {
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	Note    string   `json:"note,omitempty"`
}

// Column is a column of a Table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Kind is what the numbers of a column are.
type Kind string

// The values of Kind.
const (
	Number Kind = "number"
	Share  Kind = "share" // of 1
	Bytes  Kind = "bytes"
	Rate   Kind = "rate" // counts: the page shows how many there are in a second
)

// Row is a row of a Table, with a number for each column. No other row of the table has its name.
type Row struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// Tables has the page show tables of this process, once a second while it has a reader. Call it before the page is served. The
// program of the page need not have a runtime.
func (p *Page) Tables(read func(ctx context.Context) []Table) { p.own = read }

// mostRows is how many rows a table has at most.
const mostRows = 1024

// list reads the tables, if their time has come.
func (p *Page) list(run inspect.Run) {
	if time.Since(p.listed) < slowTick {
		return
	}
	p.listed = time.Now()
	var all []Table
	if locks := locksOf(run); len(locks.Rows) > 0 {
		all = append(all, locks)
	}
	if p.own != nil {
		ctx, cancel := context.WithTimeout(context.Background(), slowTick)
		all = append(all, p.own(ctx)...)
		cancel()
	}
	if len(all) == 0 {
		return
	}
	for i := range all {
		all[i].Rows = all[i].Rows[:min(len(all[i].Rows), mostRows)]
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(event{now, 0, render("tables", struct {
		At     int64   `json:"at"`
		Tables []Table `json:"tables"`
	}{now.UnixMilli(), all})})
}

// mostLocks is how many locks the page shows: those that were acquired most often.
const mostLocks = 16

// locksOf are the guards of the run's resources, at their homes.
func locksOf(run inspect.Run) Table {
	t := Table{
		Title:   "Locks of relaxed access",
		Columns: []Column{{"acquired, a second", Rate}, {"waited", Share}, {"handed on nearby", Share}, {"unfairness", Number}},
		Note: "Waited: for a predecessor. Handed on nearby: to another rank of the same element of the machine. " +
			"Unfairness: how much the ranks' acquisitions differ; 0 is fair, and 1 means that they differ by as much as their mean.",
	}
	var all []inspect.ResourceState
	for _, n := range run.Nodes {
		if n.State == nil {
			continue
		}
		for _, r := range n.State.Resources {
			if r.Guard != nil && r.Home == n.Node {
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b inspect.ResourceState) int { return cmp.Compare(b.Guard.Acquired, a.Guard.Acquired) })
	for _, r := range all[:min(len(all), mostLocks)] {
		g := r.Guard
		of := float64(max(1, g.Acquired))
		t.Rows = append(t.Rows, Row{r.Resource + ", " + g.Algorithm, []float64{float64(g.Acquired), float64(g.Waited) / of, float64(g.Near) / of, g.Unfair}})
	}
	return t
}
