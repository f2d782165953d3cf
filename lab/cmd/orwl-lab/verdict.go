package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/net/sim"
)

// verdict is what orwl-lab sim -json and -csv print of a lock and a play.
type verdict struct {
	Lock     string  `json:"lock"`
	Play     string  `json:"play"`
	Verdict  string  `json:"verdict"`
	Complete bool    `json:"complete"` // nothing is left to search
	Runs     int     `json:"runs"`
	Steps    int     `json:"steps"`
	States   int     `json:"states"`
	Seconds  float64 `json:"seconds"`
	Failure  string  `json:"failure,omitempty"`
	Again    string  `json:"again,omitempty"` // the command that repeats the failure
}

var verdictColumns = []string{"lock", "play", "verdict", "complete", "runs", "steps", "states", "seconds", "failure", "again"}

func (v verdict) fields() []string {
	return []string{v.Lock, v.Play, v.Verdict, strconv.FormatBool(v.Complete), strconv.Itoa(v.Runs), strconv.Itoa(v.Steps),
		strconv.Itoa(v.States), strconv.FormatFloat(v.Seconds, 'g', 4, 64), v.Failure, v.Again}
}

func verdictOf(lock explore.Lock, play string, r sim.Report, took time.Duration) verdict {
	v := verdict{Lock: lock.Spec.Name, Play: play, Verdict: "holds", Complete: r.Complete, Runs: r.Runs, Steps: r.Steps, States: r.States,
		Seconds: took.Seconds()}
	switch {
	case r.Failure != nil:
		v.Verdict, v.Failure, v.Again = "broken", r.Failure.Err.Error(), r.Failure.Command
	case !r.Complete:
		v.Verdict = "holds so far"
	}
	return v
}

// tally is what came of all plays of a kind.
type tally struct {
	kind               explore.Kind
	plays, whole, runs int
	states             int
	searches           bool
}

func (t *tally) add(p explore.Play, r sim.Report) {
	t.plays++
	t.runs += r.Runs
	t.states += r.States
	t.searches = p.Searches()
	if r.Complete {
		t.whole++
	}
}

// does says what the ranks of a kind do.
var does = map[explore.Kind]string{
	explore.States:      "two ranks come twice, in every schedule",
	explore.Crash:       "either of two ranks crashes at any step, in every schedule",
	explore.Cancel:      "two contexts end at any step, and the ranks come back, in every schedule",
	explore.CancelCrash: "a context ends and a rank crashes at any step, in every schedule",
	explore.Try:         "ranks try at once, and after they have given up, in every schedule",
	explore.Split:       "the network between two ranks is cut for ever at any step, in every schedule",
	explore.SurviveAny:  "a rank crashes at any step, and the others go on, in every schedule",
	explore.Survive:     "ranks come three times, one or two crash, and the others go on",
	explore.Leave:       "a rank gives up for good at any step, in every schedule",
	explore.Seeds:       "ranks come three times, late and paused, give up and come back",
	explore.Crashes:     "the same with crashes",
	explore.Large:       "more ranks, with one to four levels",
	explore.Mixed:       "two locks at once, in all ways that a program may use them",
	explore.Case:        "the conformance suite",
	explore.Fair:        "bounds of fairness",
}

// kinds are all kinds of plays, in the order of a report.
var kinds = []explore.Kind{explore.States, explore.Crash, explore.Split, explore.Cancel, explore.CancelCrash, explore.Try, explore.Leave,
	explore.SurviveAny, explore.Seeds, explore.Crashes, explore.Survive, explore.Mixed, explore.Large, explore.Case, explore.Fair}

// String is a line of the report.
func (t *tally) String() string {
	many := fmt.Sprintf("%d plays, %d runs", t.plays, t.runs)
	switch {
	case t.kind == explore.Fair:
		many = fmt.Sprintf("%d comparisons", t.plays)
	case t.searches && t.whole == t.plays:
		many = fmt.Sprintf("%d searches, all %d states", t.plays, t.states)
	case t.searches:
		many = fmt.Sprintf("%d searches, %d states, %d of them all", t.plays, t.states, t.whole)
	}
	return fmt.Sprintf("  %-12s %-78s %s", t.kind, does[t.kind], many)
}

// notPlayed says what a report leaves open.
func notPlayed(l explore.Lock, s explore.Setting, tallies map[explore.Kind]*tally, filtered bool) (all []string) {
	open := 0
	for _, t := range tallies {
		if t.searches {
			open += t.plays - t.whole
		}
	}
	if open > 0 {
		all = append(all, fmt.Sprintf("the rest of %d searches: -states 0 visits all states", open))
	}
	if filtered {
		all = append(all, "plays that -play leaves out")
	}
	if l.Bare {
		all = append(all, "the conformance suite, and what only locks of the table have: tries, bounds, contexts that end while a rank waits")
	} else if l.Fixed != nil {
		all = append(all, "the conformance suite and bounds of fairness: they choose options of their own")
	} else {
		if l.Spec.Aborts == locks.Never {
			all = append(all, "contexts that end while a rank waits: the lock does not give up then")
		}
		if tallies[explore.Fair] == nil && strings.Contains(l.Spec.Fairness, "none") {
			all = append(all, "bounds of fairness: the lock's row states none")
		}
	}
	if s.Tree == nil && s.Ranks < 256 {
		all = append(all, fmt.Sprintf("more than %d ranks: -ranks 256", max(16, s.Ranks)))
	}
	return append(all, "schedules that no seed drew: -seeds", "real processes, killed: go test ./locks")
}
