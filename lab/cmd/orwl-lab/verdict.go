package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
)

// verdict is what orwl-lab sim -json and -csv print of a lock and a search.
type verdict struct {
	Lock         string  `json:"lock"`
	Topology     string  `json:"topology"`
	Ranks        int     `json:"ranks"`
	Acquisitions int     `json:"acquisitions"`
	Search       string  `json:"search"` // every state, drawn, seed or schedule
	Verdict      string  `json:"verdict"`
	Complete     bool    `json:"complete"` // nothing is left to search
	Runs         int     `json:"runs"`
	Steps        int     `json:"steps"`
	States       int     `json:"states"`
	Seconds      float64 `json:"seconds"`
	Failure      string  `json:"failure,omitempty"`
	Again        string  `json:"again,omitempty"` // the command that repeats the failure
}

var verdictColumns = []string{"lock", "topology", "ranks", "acquisitions", "search", "verdict", "complete",
	"runs", "steps", "states", "seconds", "failure", "again"}

func (v verdict) fields() []string {
	return []string{v.Lock, v.Topology, strconv.Itoa(v.Ranks), strconv.Itoa(v.Acquisitions), v.Search, v.Verdict,
		strconv.FormatBool(v.Complete), strconv.Itoa(v.Runs), strconv.Itoa(v.Steps), strconv.Itoa(v.States),
		strconv.FormatFloat(v.Seconds, 'g', 4, 64), v.Failure, v.Again}
}

func verdictOf(c specimen.Contest, lock specimen.Specimen, search string, r sim.Report, took time.Duration) verdict {
	v := verdict{Lock: lock.Name, Topology: c.Topology.String(), Ranks: c.Topology.Ranks(), Acquisitions: c.Acquisitions,
		Search: search, Verdict: "holds", Complete: r.Complete, Runs: r.Runs, Steps: r.Steps, States: r.States,
		Seconds: took.Seconds()}
	switch {
	case r.Failure != nil:
		v.Verdict, v.Failure, v.Again = "broken", r.Failure.Err.Error(), r.Failure.Command
	case !r.Complete:
		v.Verdict = "holds so far"
	}
	return v
}

// tally is a report in a line.
func tally(r sim.Report, took time.Duration) string {
	text := fmt.Sprintf("%d runs, %d steps", r.Runs, r.Steps)
	if r.States > 0 {
		text += fmt.Sprintf(", %d states", r.States)
	}
	return text + fmt.Sprintf(", %v", took.Round(10*time.Microsecond))
}

func verdictOfAll(r sim.Report) string {
	switch {
	case r.Failure != nil:
		return fmt.Sprintf("broken after %d states", r.States)
	case r.Complete:
		return fmt.Sprintf("holds in all %d states", r.States)
	}
	return fmt.Sprintf("holds in %d states and goes on", r.States)
}

func verdictOfDrawn(r sim.Report) string {
	if r.Failure != nil {
		return fmt.Sprintf("broken by seed %d", r.Failure.Seed)
	}
	return fmt.Sprintf("holds for %d seeds", r.Runs)
}
