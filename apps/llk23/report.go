package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/npy"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
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

// table is the report for people: whether the result is right, what the run was worth, and then why.
func (r *report) table() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s"+format+"\n", append([]any{name}, args...)...)
	}
	blocks, all := len(r.shares), r.all
	b.WriteString(r.opening() + "\n\n")
	if r.Lives > 1 {
		line("lives", "%d: %s; the time is of all lives, and the figures, the film and the trace are of the last one", r.Lives, strings.Join(r.News, ", "))
	}
	line("busy", "%5.1f %% of the time of %s", 100*r.busy(), counted(r.Processors, "processor"))
	line("compute", "%5.1f %% of the blocks' time, %s", 100*all.computing(), r.possible())
	line("queued", "%5.1f %%: a block was ready, and no processor was free; %s", 100*all.queued(), r.mustWait())
	line("wait", "%5.1f %% for the frontiers of neighbours", 100*all.waiting())
	if r.Pace != nil {
		line("pace", "%v", r.Pace)
	}
	line("frontiers", "%5.1f %% to copy them", 100*all.moving())
	line("hand-overs", "%d frontiers of %d bytes, %d bytes between nodes", r.HandOvers, all.account.Bytes, r.BytesShipped)
	line("hidden", "%v in sum, while blocks did something else; %d frontiers (%.1f %%) had come before they were asked for",
		all.account.Hidden.Round(time.Microsecond), r.PrefetchHits, 100*float64(r.PrefetchHits)/float64(max(1, r.HandOvers)))
	passes := ""
	if r.Sweeps > 1 {
		passes = fmt.Sprintf(", %d in a pass", r.Sweeps)
	}
	line("problem", "%s of %s, %s%s on %s: %.2f ns per element and iteration", counted(blocks, "block"), r.Block,
		counted(r.Iters, "iteration"), passes, counted(r.Nodes, "node"), r.NsPerElement)
	line("how", "%s blocks, %d elements, the %s kernel, tasks: %s; %.3f s to set up", r.Grid, r.Elements, r.Kernel, r.Tasks, r.setup.Seconds())
	line("sha256", "%s", r.SHA256)
	b.WriteByte('\n')
	r.shareTable(&b)
	return b.String()
}

// opening says in two sentences whether the result is right, and what the run was worth.
func (r *report) opening() string {
	worth := fmt.Sprintf("The run took %.3f s, with %s busy ", r.Seconds, counted(r.Processors, "processor"))
	if busy := r.busy(); busy < 1 {
		worth += fmt.Sprintf("for %.1f %% of the time", 100*busy)
	} else {
		worth += "all the time" // nodes that share processors count for more than there are
	}
	switch {
	case r.differs != nil:
		return "WRONG: the result is not the sequential sweep's. " + worth + "."
	case r.Verified:
		return fmt.Sprintf("Verified, every bit. %s; the sequential sweep took %.3f s, %.2f times as long.", worth, r.SequentialSeconds, r.SpeedUp)
	}
	return "Not verified, since -verify=false. " + worth + "."
}

// possible compares computing with what is possible. A block whose worker has lost its processor counts
// as computing, so it is more where nodes share processors.
func (r *report) possible() string {
	part := r.all.computing() / (1 - r.LeastWaitShare)
	if part > 1 {
		return fmt.Sprintf("at least %.1f %% of it without a processor", 100*(1-1/part))
	}
	return fmt.Sprintf("%.1f %% of what is possible", 100*part)
}

// mustWait says for how much of the time blocks are queued or wait, whatever the program does.
func (r *report) mustWait() string {
	if r.LeastWaitShare == 0 {
		return "there is a processor for each block"
	}
	return fmt.Sprintf("%.1f %% of the time %s on %s are queued or wait", 100*r.LeastWaitShare,
		counted(len(r.shares), "block"), counted(r.Processors, "processor"))
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// mostShares is for how many blocks each gets a line of its own.
const mostShares = 16

// shareTable tells what the blocks did with their time.
func (r *report) shareTable(b *strings.Builder) {
	line := func(name string, s share) {
		fmt.Fprintf(b, "%-8s%9.1f %%%9.1f %%%9.1f %%%9.1f %%%12d%9d%12v\n", name, 100*s.computing(), 100*s.queued(), 100*s.waiting(), 100*s.moving(),
			s.account.Imports, s.account.Early, s.account.Hidden.Round(10*time.Microsecond))
	}
	fmt.Fprintf(b, "%-8s%11s%11s%11s%11s%12s%9s%12s\n", "block", "compute", "queued", "wait", "frontiers", "hand-overs", "early", "hidden")
	if len(r.shares) <= mostShares {
		for _, s := range r.shares {
			line(fmt.Sprintf("%d,%d", s.row, s.col), s)
		}
	} else {
		busier := func(x, y share) int { return cmp.Compare(x.computing(), y.computing()) }
		line("idlest", slices.MinFunc(r.shares, busier))
		line("busiest", slices.MaxFunc(r.shares, busier))
	}
	line("all", r.all)
}

// errDiffers is matched by the error of a result that is not the sequential sweep's.
var errDiffers = errors.New("the result is not the sequential sweep's")

// compare looks for the first element of rows that is not b's, bit for bit, where b is the whole matrix.
func compare(ctx context.Context, rows iter.Seq2[int, []float64], b *block) error {
	for i, row := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, want := range b.row(i) {
			if math.Float64bits(row[j]) != math.Float64bits(want) {
				return fmt.Errorf("%w: row %d, column %d is %v and should be %v", errDiffers, i, j, row[j], want)
			}
		}
	}
	return nil
}

// digest is the SHA-256 of rows as little-endian float64, one after the other.
func digest(ctx context.Context, rows iter.Seq2[int, []float64]) (string, error) {
	hash := sha256.New()
	for _, row := range rows {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		_ = binary.Write(hash, binary.LittleEndian, row) // a hash takes all
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// export writes the final matrix as a .npy file, its ring included.
func (f *field) export(to io.Writer) error {
	whole := newMatrix(f.rows+2, f.cols+2)
	for i, row := range f.result() {
		copy(whole.row(i), row)
	}
	a := npy.Array{DType: "<f8", Shape: []int{f.rows + 2, f.cols + 2}}
	return cmp.Or(f.unread, npy.Write(to, a, bytesOf(whole.cells)))
}

// plot draws the field and how much each block waited. The ring is left out, which would be most of the legend and
// little of the picture.
func (r *report) plot(to io.Writer, cells []float64) error {
	whole := r.grid.times(r.each)
	field := picture.Panel{Title: "field", Rows: whole.rows, Cols: whole.cols, Values: picture.Cells(cells, whole.cols)}
	waited := make([]float64, len(r.shares))
	for i, s := range r.shares {
		waited[i] = s.waiting()
	}
	waiting := picture.Panel{
		Title: "time waiting for neighbours", Rows: whole.rows, Cols: whole.cols, Values: r.spread(waited, whole),
		Most: 1, Palette: picture.Magma(), Label: func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) },
	}
	waiting.Blocks.Rows, waiting.Blocks.Cols = r.grid.rows, r.grid.cols
	return picture.Picture{field, waiting}.PNG(to)
}

// spread gives each element the value of its block.
func (r *report) spread(values []float64, whole size) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		row := make([]float64, whole.cols)
		for i := range whole.rows {
			for j := range row {
				row[j] = values[i/r.each.rows*r.grid.cols+j/r.each.cols]
			}
			if !yield(row) {
				return
			}
		}
	}
}
