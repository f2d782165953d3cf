package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/orwl/go-orwl/net/topology"
)

// benchReport is a table under way: each row is printed when it is known.
type benchReport struct {
	out    io.Writer
	asJSON bool

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

func newBenchReport(p *benchPlan, out io.Writer, asJSON bool) *benchReport {
	r := &benchReport{out: out, asJSON: asJSON, Fabric: p.fabric,
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
	if !asJSON {
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
	if !r.asJSON {
		fmt.Fprintf(r.out, "%6d %6g  %-11s %12v %12.4g %8.2f %9d %8d\n", row.Ranks, row.Writes, row.Discipline,
			o.took.Round(time.Microsecond), row.PerSecond, row.Faster, row.Inserts, row.Refused)
	}
}

func (r *benchReport) finish() error {
	if r.asJSON {
		return json.NewEncoder(r.out).Encode(r)
	}
	return nil
}

// saveCSV writes the table to a file, if one is named. The file is whole, or as it was before.
func (r *benchReport) saveCSV(name string) error {
	if name == "" {
		return nil
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	lines := [][]string{{"fabric", "ranks", "topology", "writes_percent", "discipline", "operations", "seconds", "operations_per_second", "of_the_first", "inserts", "refused"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, row := range r.Rows {
		lines = append(lines, []string{r.Fabric, strconv.Itoa(row.Ranks), row.Topology, number(row.Writes), row.Discipline,
			strconv.Itoa(row.Operations), number(row.Seconds), number(row.PerSecond), number(row.Faster),
			strconv.Itoa(row.Inserts), strconv.Itoa(row.Refused)})
	}
	err := w.WriteAll(lines)
	if err == nil {
		err = maybe.WriteFile(name, text.Bytes(), 0o666)
	}
	if err != nil {
		return fmt.Errorf("-csv: %w", err)
	}
	return nil
}
