package metrics

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

var rewrite = flag.Bool("rewrite", false, "write docs/reference/metrics.md anew")

//go:generate go test -run TestDocumented -rewrite

const document = "../docs/reference/metrics.md"

// The page documents all metrics that are exported, and no others.
func TestDocumented(t *testing.T) {
	want := markdown()
	if *rewrite {
		if err := os.WriteFile(document, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the metrics are: go generate ./metrics", document)
	}
}

// markdown is the document.
func markdown() string {
	var b strings.Builder
	b.WriteString(`# Metrics

` + "`go generate ./metrics`" + ` makes this page. Each metric has the label ` + "`node`" + `, the
number of the process in its run. Go's own metrics (` + "`go_*`" + `), the process's
(` + "`process_*`" + `) and, with ` + "`nodes.Network.Registerer`" + `, go-libp2p's (` + "`libp2p_*`" + `)
stand beside these.

Histograms are native, eight buckets to each factor of two, and classic for scrapers that
do not ask for native ones. Times are sampled where accesses follow one another so quickly
that looking at a clock would show. A timed access then stands for those since the last
one. Counters are exact.

| metric | type | labels | meaning |
|---|---|---|---|
`)
	all := families()
	slices.SortFunc(all, func(x, y family) int { return strings.Compare(x.name, y.name) })
	for _, f := range all {
		labels := "–"
		if len(f.labels) > 0 {
			labels = strings.Join(f.labels, ", ")
		}
		if slices.Contains(perTask, f.name) {
			labels = "task, if Options.Tasks says so"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, f.kind, labels, f.help)
	}
	b.WriteString("\n## Values of labels\n\n| label | values |\n|---|---|\n")
	for _, l := range bounds() {
		fmt.Fprintf(&b, "| %s | %s |\n", l.name, l.values)
	}
	return b.String()
}

// bounds says what there is of each label, so that no label grows with what a
// program does.
func bounds() []struct{ name, values string } {
	return []struct{ name, values string }{
		{"algorithm", "FIFO of ordered accesses; of relaxed accesses and of locks, a name from `orwl locks`"},
		{"direction", "in, out"},
		{"access", "ordered, relaxed"},
		{"kind", "of frames, 14 of them: ack, beat, bye, parcel, loan, reply, put, ..."},
		{"lock", "the names that the program has given to its locks by Metrics.Lock"},
		{"mode", "read, write"},
		{"outcome", "acquired, cancelled, failed"},
		{"reason", "stranger, refused, malformed, oversize, checksum of connections; replayed, other_life, malformed, gap, unknown of messages"},
		{"scope", "local, remote of hand-overs; local, global of locks"},
		{"state", "here, suspected, lost, left of nodes; working, waiting, queued, ended of tasks; held, waiting of locks"},
		{"task", "the names of tasks"},
		{"when", "in_time, late"},
	}
}

// Prometheus' own tool finds nothing wrong with names, units and help.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the package prometheus has it")
	}
	m, registry := made(t, Options{Tasks: true})
	m.relaxedOf("RMA-RW")
	k, err := orwl.NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Locker("lock", k); err != nil {
		t.Fatal(err)
	}
	crowded(t, m, 2, 10, 0, false)
	s := serves(t, ServerOptions{Gatherer: registry})
	_, _, body := ask(t, s, "/metrics", "")
	c := exec.CommandContext(t.Context(), tool, "check", "metrics")
	c.Stdin = strings.NewReader(body)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
