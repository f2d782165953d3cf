package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/stencil"
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

	// Lives is how many lives the run had, and News what has become of its nodes. The figures are of the last life, and the times of all.
	Lives int      `json:"lives"`
	News  []string `json:"news,omitempty"`

	// Seconds is the time from the start of the runtime to the end of the last
	// task, without setting up and verifying.
	Seconds      float64 `json:"seconds"`
	NsPerElement float64 `json:"ns_per_element"` // for each element and iteration
	BusyShare    float64 `json:"busy_share"`     // of the processors' time; more than 1 if nodes share processors
	ComputeShare float64 `json:"compute_share"`  // of all blocks' time
	QueuedShare  float64 `json:"queued_share"`   // they were ready, and no processor was free
	WaitShare    float64 `json:"wait_share"`     // for neighbours
	// LeastWaitShare is for how much of the time blocks are queued or wait at least: no more of them can compute at a time
	// than there are processors.
	LeastWaitShare float64 `json:"least_wait_share"`
	Processors     int     `json:"processors"` // of all nodes

	// SequentialSeconds is what the sequential sweep took, and SpeedUp how many times as long that
	// is. They are zero if the result is not verified.
	SequentialSeconds float64 `json:"sequential_seconds"`
	SpeedUp           float64 `json:"speed_up"`

	// Verified says that the result was compared with the sequential sweep's
	// and is the same. SHA256 is of the whole matrix with its ring.
	Verified bool   `json:"verified"`
	SHA256   string `json:"sha256"`

	// HandOvers is how often a block has read a neighbour's frontier.
	HandOvers int64 `json:"hand_overs"`
	// BytesShipped is how many bytes of frontiers went from node to node.
	BytesShipped int64 `json:"bytes_shipped"`
	PrefetchHits int64 `json:"prefetch_hits"`
	// HiddenSeconds is for how long frontiers were on their way while their blocks did something
	// else, in sum.
	HiddenSeconds float64 `json:"hidden_seconds"`

	// Pace is the time of a pass, beside the least that it can take: by the circle of tasks that wait for each other
	// longest, and by all bodies on the processors. It is not known on several nodes.
	Pace *inspect.Pace `json:"pace,omitempty"`

	shares     []share // by block, row by row
	all        share   // the sum of shares
	grid, each size
	setup      time.Duration
	differs    error // why it is not verified, if it was compared
}

// share is how a block spent the time, and what it has read.
type share struct {
	row, col int
	time     float64 // in seconds
	account  stencil.Account
}

func newReport(f *field) *report {
	took := f.past.Took + f.took
	r := &report{
		Grid: f.grid.String(), Block: f.each.String(), Iters: f.iters, Sweeps: f.cells.InPass(), Elements: f.elements(), Nodes: f.rt.Nodes(),
		Kernel: f.kernel.name, Tasks: f.form,
		Seconds: took.Seconds(), setup: f.setup, Lives: f.past.Life, News: f.past.News,
		NsPerElement: float64(took.Nanoseconds()) / float64(f.updates()),
		grid:         f.grid, each: f.each, Processors: f.rt.Processors(), Pace: f.pace,
	}
	for n, a := range f.accounts {
		r.shares = append(r.shares, share{n / f.grid.cols, n % f.grid.cols, f.took.Seconds(), a})
		r.all.time += f.took.Seconds()
		all := &r.all.account
		for phase, spent := range a.Spent {
			all.Spent[phase] += spent
		}
		all.Imports, all.Bytes, all.Early, all.Hidden = all.Imports+a.Imports, all.Bytes+a.Bytes, all.Early+a.Early, all.Hidden+a.Hidden
	}
	r.HandOvers, r.BytesShipped, r.PrefetchHits = r.all.account.Imports, f.shipped, r.all.account.Early
	r.HiddenSeconds = r.all.account.Hidden.Seconds()
	r.LeastWaitShare = max(0, 1-float64(r.Processors)/float64(len(r.shares)))
	r.ComputeShare, r.QueuedShare, r.WaitShare, r.BusyShare = r.all.computing(), r.all.queued(), r.all.waiting(), r.busy()
	return r
}

// compared notes what came of the comparison with the sequential sweep, which took so long.
func (r *report) compared(took time.Duration, differs error) {
	r.Verified, r.differs = differs == nil, differs
	r.SequentialSeconds, r.SpeedUp = took.Seconds(), took.Seconds()/r.Seconds
}

// of is the share of some phases.
func (s share) of(phases ...stencil.Phase) (sum float64) {
	for _, p := range phases {
		sum += s.account.Spent[p].Seconds()
	}
	if sum > 0 {
		sum /= s.time
	}
	return sum
}

func (s share) computing() float64 { return s.of(stencil.Computing) }
func (s share) queued() float64    { return s.of(stencil.Queued) }

// busy is for how much of their time the processors computed, or copied frontiers.
func (r *report) busy() float64 {
	if r.Processors == 0 {
		return 0
	}
	return (r.all.computing() + r.all.moving()) * float64(len(r.shares)) / float64(r.Processors)
}

// waiting includes the time before the first pass, and after the last.
func (s share) waiting() float64 { return s.of(stencil.Waiting, stencil.Outside) }

// moving is copying frontiers.
func (s share) moving() float64 { return s.of(stencil.Importing, stencil.Exporting) }

// write prints the report, as JSON or for people.
func (r *report) write(to io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(to).Encode(r)
	}
	_, err := io.WriteString(to, r.table())
	return err
}
