package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report is what a run has to say. The fields with tags are the JSON object.
type report struct {
	Grid     string `json:"grid"`
	Block    string `json:"block"`
	Iters    int    `json:"iters"`
	Sweeps   int    `json:"-"` // in one pass
	Elements int64  `json:"elements"`
	Nodes    int    `json:"nodes"`
	Kernel   string `json:"kernel"`
	Tasks    form   `json:"tasks"`

	// Seconds is the time from the start of the runtime to the end of the last
	// task, without setting up and verifying.
	Seconds      float64 `json:"seconds"`
	NsPerElement float64 `json:"ns_per_element"` // and iteration
	ComputeShare float64 `json:"compute_share"`  // of all blocks' time
	WaitShare    float64 `json:"wait_share"`

	// Verified says that the result was compared with the sequential sweep's
	// and is the same. SHA256 is of the whole matrix with its ring.
	Verified bool   `json:"verified"`
	SHA256   string `json:"sha256"`

	// HandOvers is how often a block has read a neighbour's frontier.
	HandOvers int64 `json:"hand_overs"`
	// BytesShipped is how many bytes of frontiers went from node to node.
	BytesShipped int64 `json:"bytes_shipped"`
	PrefetchHits int64 `json:"prefetch_hits"`

	tally      tally
	shares     []share // by block, row by row
	grid, each size
	processors int // of all nodes
	setup      time.Duration
	sequential time.Duration // zero if not verified
	differs    error         // why it is not verified, if it was compared
}

// share is how a block spent the time.
type share struct {
	row, col int
	spent    [phases]float64
}

func newReport(f *measured) *report {
	r := &report{
		Grid: f.grid.String(), Block: f.each.String(), Iters: f.iters, Sweeps: f.deep() + 1, Elements: f.elements(), Nodes: f.nodes.Count(),
		Kernel: f.kernel.name, Tasks: f.form,
		Seconds: f.took.Seconds(), setup: f.setup,
		NsPerElement: float64(f.took.Nanoseconds()) / float64(f.updates()),
		grid:         f.grid, each: f.each, processors: f.processors,
	}
	for _, p := range f.parts {
		one := share{row: p.row, col: p.col}
		for phase, spent := range p.watch.spent {
			one.spent[phase] = spent.Seconds() / r.Seconds
		}
		r.shares = append(r.shares, one)
		r.tally.add(p.tally)
	}
	r.HandOvers, r.BytesShipped, r.PrefetchHits = r.tally.Reads, f.shipped, r.tally.Hits
	all := r.mean()
	r.ComputeShare, r.WaitShare = all.computing(), all.waiting()
	return r
}

func (s share) computing() float64 { return s.spent[computing] }

// waiting includes the time before the first pass, and after the last.
func (s share) waiting() float64 { return s.spent[waiting] + s.spent[outside] }

// moving is copying frontiers.
func (s share) moving() float64 { return s.spent[importing] + s.spent[exporting] }

func (r *report) mean() share {
	var mean share
	for _, s := range r.shares {
		for phase, spent := range s.spent {
			mean.spent[phase] += spent / float64(len(r.shares))
		}
	}
	return mean
}

// write prints the report, as JSON or for people.
func (r *report) write(to io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(to).Encode(r)
	}
	_, err := io.WriteString(to, r.table())
	return err
}

func (r *report) table() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s"+format+"\n", append([]any{name}, args...)...)
	}
	line("elements", "%d, %s blocks of %s", r.Elements, r.Grid, r.Block)
	line("nodes", "%d", r.Nodes)
	passes := ""
	if r.Sweeps > 1 {
		passes = fmt.Sprintf(", %d in a pass", r.Sweeps)
	}
	line("iterations", "%d%s with the %s kernel, tasks: %s", r.Iters, passes, r.Kernel, r.Tasks)
	line("seconds", "%.3f, and %.3f to set up", r.Seconds, r.setup.Seconds())
	line("ns per element", "%.2f in each iteration", r.NsPerElement)
	b.WriteByte('\n')
	r.shareTable(&b)
	b.WriteByte('\n')
	line("hand-overs", "%d frontiers", r.HandOvers)
	line("bytes moved", "%d, %d of them between nodes", r.tally.Bytes, r.BytesShipped)
	line("prefetch", "%d frontiers (%.1f %%) had come before they were asked for, %v hidden",
		r.PrefetchHits, 100*float64(r.PrefetchHits)/float64(max(1, r.tally.Reads)), r.tally.Hidden.Round(time.Microsecond))
	switch {
	case r.Verified:
		line("verified", "yes, every bit: the sequential sweep took %.3f s, %.2f times as long",
			r.sequential.Seconds(), r.sequential.Seconds()/r.Seconds)
	case r.differs != nil:
		line("verified", "NO")
	default:
		line("verified", "not compared, since -verify=false")
	}
	line("sha256", "%s", r.SHA256)
	return b.String()
}

// mostShares is for how many blocks each gets a line of its own.
const mostShares = 16

// shareTable tells what the blocks did with their time.
func (r *report) shareTable(b *strings.Builder) {
	line := func(name string, s share) {
		fmt.Fprintf(b, "%-16s%11.1f %%%10.1f %%%10.1f %%\n", name, 100*s.computing(), 100*s.waiting(), 100*s.moving())
	}
	fmt.Fprintf(b, "%-16s%13s%12s%12s\n", "block", "computing", "waiting", "frontiers")
	if len(r.shares) <= mostShares {
		for _, s := range r.shares {
			line(fmt.Sprintf("%d,%d", s.row, s.col), s)
		}
	} else {
		busier := func(x, y share) int {
			if x.computing() < y.computing() {
				return -1
			}
			return 1
		}
		line("idlest", slices.MinFunc(r.shares, busier))
		line("busiest", slices.MaxFunc(r.shares, busier))
	}
	line("mean", r.mean())
	if blocks := len(r.shares); blocks > r.processors {
		fmt.Fprintf(b, "No more than %d of the %d blocks, %.1f %%, can be computing at a time.\n",
			r.processors, blocks, 100*float64(r.processors)/float64(blocks))
	}
}
