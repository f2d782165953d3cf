package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what a run has to say. The fields with tags are the JSON object.
type report struct {
	Rows     int    `json:"rows"`
	Cols     int    `json:"cols"`
	Elements int64  `json:"elements"`
	Iters    int    `json:"iters"`
	Ranks    int    `json:"ranks"`
	Kernel   string `json:"kernel"`

	// Seconds is the time from the start of all ranks to the end of the last,
	// without setting up and verifying.
	Seconds      float64 `json:"seconds"`
	NsPerElement float64 `json:"ns_per_element"` // and iteration
	ComputeShare float64 `json:"compute_share"`  // of all ranks' time
	WaitShare    float64 `json:"wait_share"`

	Handovers    int64 `json:"handovers"`
	BytesShipped int64 `json:"bytes_shipped"`

	// Verified says that the result was compared with the sequential sweep's
	// and is the same. SHA256 is of the whole matrix with its ring.
	Verified bool   `json:"verified"`
	SHA256   string `json:"sha256"`

	shares     []share // by rank
	setup      time.Duration
	sequential time.Duration // zero if not verified
	differs    error         // why it is not verified, if it was compared
}

// share is how one rank spent the time.
type share struct {
	extent
	spent [phases]float64
}

func newReport(s *measured) *report {
	r := &report{
		Rows: s.rows, Cols: s.cols, Elements: s.elements(), Iters: s.iters,
		Ranks: len(s.parts), Kernel: s.kernel.name,
		Seconds: s.took.Seconds(), setup: s.setup,
		NsPerElement: float64(s.took.Nanoseconds()) / float64(s.updates()),
	}
	for _, part := range s.parts {
		one := share{extent: part.extent}
		for phase, spent := range part.watch.spent {
			one.spent[phase] = spent.Seconds() / r.Seconds
		}
		r.shares = append(r.shares, one)
		r.Handovers += part.sent
	}
	r.BytesShipped = r.Handovers * 8 * int64(s.cols)
	r.ComputeShare, r.WaitShare = r.mean(computing), r.mean(waiting)
	return r
}

func (r *report) mean(p phase) float64 {
	total := 0.0
	for _, s := range r.shares {
		total += s.spent[p]
	}
	return total / float64(len(r.shares))
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
	line("elements", "%d, %d rows of %d", r.Elements, r.Rows, r.Cols)
	line("iterations", "%d with the %s kernel", r.Iters, r.Kernel)
	line("seconds", "%.3f, and %.3f to set up", r.Seconds, r.setup.Seconds())
	line("ns per element", "%.2f in each iteration", r.NsPerElement)
	b.WriteByte('\n')
	r.shareTable(&b)
	b.WriteByte('\n')
	line("hand-overs", "%d rows", r.Handovers)
	line("bytes moved", "%d", r.BytesShipped)
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

// mostShares is for how many ranks each gets a line of its own.
const mostShares = 16

// shareTable tells what the ranks did with their time.
func (r *report) shareTable(b *strings.Builder) {
	row := func(name, rows string, spent [phases]float64) {
		fmt.Fprintf(b, "%-8s%16s%11.1f %%%10.1f %%%10.1f %%\n", name, rows,
			100*spent[computing], 100*spent[waiting], 100*spent[moving])
	}
	fmt.Fprintf(b, "%-8s%16s%13s%12s%12s\n", "rank", "rows", "computing", "waiting", "moving rows")
	if len(r.shares) <= mostShares {
		for p, s := range r.shares {
			row(fmt.Sprint(p), fmt.Sprintf("%d to %d", s.top, s.top+s.rows-1), s.spent)
		}
	} else {
		busy := func(a, b share) int {
			if a.spent[computing] < b.spent[computing] {
				return -1
			}
			return 1
		}
		row("idlest", "", slices.MinFunc(r.shares, busy).spent)
		row("busiest", "", slices.MaxFunc(r.shares, busy).spent)
	}
	row("mean", "", [phases]float64{waiting: r.WaitShare, computing: r.ComputeShare, moving: r.mean(moving)})
	if r.Ranks > runtime.GOMAXPROCS(0) {
		fmt.Fprintf(b, "There are more ranks than processors (%d): computing includes the time without one.\n",
			runtime.GOMAXPROCS(0))
	}
}
