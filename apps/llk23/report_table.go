package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

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
