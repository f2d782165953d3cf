package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/net/topology"
)

// benchReport is a table under way: each row is printed when it is known.
type benchReport struct {
	out           io.Writer
	asJSON, asCSV bool

	Fabric     string     `json:"fabric"`
	Machine    string     `json:"machine,omitempty"`
	Nodes      int        `json:"nodes,omitempty"`
	Operations int        `json:"operations_of_each_rank"`
	Elements   int        `json:"elements"`
	Buckets    int        `json:"buckets"`
	Rows       []benchRow `json:"rows"`
}

// benchRow is one contest.
type benchRow struct {
	Ranks      int     `json:"ranks"`
	Topology   string  `json:"topology"`
	Writes     float64 `json:"writes_percent"`
	Discipline string  `json:"discipline"`
	Operations int     `json:"operations"` // of all ranks
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"operations_per_second"`
	// Faster is the throughput divided by the throughput of the first discipline of the same
	// contest.
	Faster  float64 `json:"of_the_first"`
	Inserts int     `json:"inserts"`
	Refused int     `json:"refused"`
}

func newBenchReport(p *benchPlan, out io.Writer, asJSON, asCSV bool) *benchReport {
	r := &benchReport{out: out, asJSON: asJSON, asCSV: asCSV, Fabric: p.fabric,
		Operations: p.contest.Operations, Elements: p.contest.Elements, Buckets: p.contest.Buckets}
	where := ""
	switch p.fabric {
	case "sim":
		r.Machine = p.machine.Name
		where = fmt.Sprintf(", %s (%s)", p.machine.Name, p.machine.Source)
	case "p2p":
		r.Nodes = p.nodes
		where = fmt.Sprintf(", %d nodes on this machine", p.nodes)
	}
	if r.text() {
		fmt.Fprintf(out, "%s%s: each rank but one makes %d operations on a volume of %d elements in %d buckets\n\n",
			p.fabric, where, r.Operations, r.Elements, r.Buckets)
		fmt.Fprintf(out, "%6s %6s  %-11s %12s %12s %8s %9s %8s\n", "ranks", "F_W %", "discipline", "total", "ops/s", "of first", "inserts", "refused")
	}
	return r
}

func (r *benchReport) add(c contest, tree *topology.Tree, o outcome) {
	ranks := tree.Ranks()
	row := benchRow{
		Ranks: ranks, Topology: c.Topology, Writes: c.Writes, Discipline: c.Discipline,
		Operations: (ranks - 1) * c.Operations, Seconds: o.took.Seconds(), Faster: 1, Inserts: o.inserts, Refused: o.refused,
	}
	if o.took > 0 {
		row.PerSecond = float64(row.Operations) / row.Seconds
	}
	for _, first := range r.Rows {
		if first.Topology == row.Topology && first.Writes == row.Writes && row.PerSecond > 0 {
			row.Faster = row.PerSecond / first.PerSecond
			break
		}
	}
	r.Rows = append(r.Rows, row)
	if r.text() {
		fmt.Fprintf(r.out, "%6d %6g  %-11s %12v %12.4g %8.2f %9d %8d\n", row.Ranks, row.Writes, row.Discipline,
			o.took.Round(time.Microsecond), row.PerSecond, row.Faster, row.Inserts, row.Refused)
	}
}

// text reports whether people read the table. They see each row when it is known.
func (r *benchReport) text() bool { return !r.asJSON && !r.asCSV }

func (r *benchReport) finish() error {
	switch {
	case r.asJSON:
		return json.NewEncoder(r.out).Encode(r)
	case r.asCSV:
		return r.writeCSV()
	}
	return nil
}

func (r *benchReport) writeCSV() error {
	lines := [][]string{{"fabric", "ranks", "topology", "writes_percent", "discipline", "operations", "seconds", "operations_per_second", "of_the_first", "inserts", "refused"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, row := range r.Rows {
		lines = append(lines, []string{r.Fabric, strconv.Itoa(row.Ranks), row.Topology, number(row.Writes), row.Discipline,
			strconv.Itoa(row.Operations), number(row.Seconds), number(row.PerSecond), number(row.Faster),
			strconv.Itoa(row.Inserts), strconv.Itoa(row.Refused)})
	}
	return csv.NewWriter(r.out).WriteAll(lines)
}
