package explore

import (
	"fmt"
	"iter"
	"strings"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Kind is what the ranks of a play do.
type Kind string

// The kinds of plays. The first eight visit every schedule.
const (
	States      Kind = "states"       // two ranks come twice
	Crash       Kind = "crash"        // two ranks come once, and either crashes at any point
	Split       Kind = "split"        // two ranks come once, and the network between them is cut for ever at any point
	Cancel      Kind = "cancel"       // two ranks come until they have the lock, and both contexts end at any point
	CancelCrash Kind = "cancel-crash" // one context ends and one rank crashes
	Try         Kind = "try"          // a rank that has given up tries, or ranks try beside others
	Leave       Kind = "leave"        // a reader or a writer gives up, and does not come again
	SurviveAny  Kind = "survive-any"  // a rank crashes at any point, also while it repairs a lock that survives

	Seeds   Kind = "seeds"   // up to 8 ranks come three times, give up and come back, are delayed and paused
	Crashes Kind = "crashes" // the same with one or two crashes
	Large   Kind = "large"   // 4 to 256 ranks, with one to four levels
	Mixed   Kind = "mixed"   // ranks use two locks in all ways: they try, read and write in turn, give up, disown
	Case    Kind = "case"    // a case of the conformance suite
	Fair    Kind = "fair"    // a bound of fairness
	Survive Kind = "survive" // the same with crashes, of a lock that survives
)

// Setting narrows what is played. The zero value is what the tests play.
type Setting struct {
	Tree         *topology.Tree // instead of the machines that a kind chooses
	Acquisitions int            // instead of the number that a kind chooses
	Ranks        int            // of the largest machine; 16 if zero
}

func (s Setting) trees(texts ...string) (all []*topology.Tree) {
	if s.Tree != nil {
		return []*topology.Tree{s.Tree}
	}
	for _, text := range texts {
		all = append(all, machine(text))
	}
	return all
}

func (s Setting) acquisitions(n int) int {
	if s.Acquisitions > 0 {
		return s.Acquisitions
	}
	return n
}

// Play is one way to play a lock.
type Play struct {
	Kind Kind
	Name string // unique among the plays of a lock; it begins with the kind

	lock   Lock
	system func(seed uint64) sim.System
	every  bool // every schedule is played, instead of those that seeds draw
	share  int  // one of so many seeds is played; one if zero
	bound  *Bound
}

// Budget says how far plays go.
type Budget struct {
	States   int // of each search; all of them, if 0
	Seeds    int // of each game
	Progress func(sim.Report) (goOn bool)
}

// Run plays. Report.Complete tells whether all schedules of a search were played, or all seeds.
func (p Play) Run(b Budget) sim.Report {
	switch {
	case p.bound != nil:
		return p.check()
	case p.every:
		s := p.System(0)
		s.Progress = b.Progress
		return s.Exhaust(sim.Limit{States: b.States})
	}
	n := max(1, p.share)
	return p.Seeds(From(0, (b.Seeds+n-1)/n), b.Progress)
}

// Seeds plays the schedules of seeds. goOn may end it after each one.
func (p Play) Seeds(all iter.Seq[uint64], goOn func(sim.Report) bool) sim.Report {
	return drawn(p.System, all, goOn)
}

// Searches reports whether the play visits every schedule.
func (p Play) Searches() bool { return p.every }

// Seed plays one seed again, and Replay one schedule of a search. A bound has neither.
func (p Play) Seed(seed uint64) sim.Report {
	if p.bound != nil {
		return p.check()
	}
	return p.System(seed).Seed(seed)
}

// Replay plays the schedule that a search has printed.
func (p Play) Replay(schedule string) (sim.Report, error) {
	if p.bound != nil {
		return p.check(), nil
	}
	return p.System(0).Replay(schedule)
}

// System is what a seed plays. For a search any seed is the same.
func (p Play) System(seed uint64) sim.System {
	s := p.system(seed)
	s.Command = p.command()
	return s
}

func (p Play) command() string { return fmt.Sprintf("%s -play %s", p.lock.Command, p.Name) }

func (p Play) check() sim.Report {
	r := sim.Report{Runs: 1, Complete: true}
	if _, err := p.bound.Check(); err != nil {
		r.Failure = &sim.Failure{Err: err, Command: p.command()}
	}
	return r
}

// Plays are all plays of a lock. Those that find most mistakes soon come first.
func Plays(l Lock, s Setting) (all []Play) {
	all = append(all, drawnPlays(l, s)...)
	all = append(all, cases(l, s)...)
	for _, b := range Bounds(l) {
		all = append(all, Play{Kind: Fair, Name: "fair/" + b.Name, lock: l, bound: &b})
	}
	all = append(all, survivals(l, s)...)
	return append(all, searches(l, s)...)
}

// name joins the parts of a play's name that are not empty.
func name(parts ...any) string {
	var words []string
	for _, part := range parts {
		if word := fmt.Sprint(part); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, "/")
}

// drawnPlays are the plays whose schedules are drawn.
func drawnPlays(l Lock, s Setting) (all []Play) {
	add := func(kind Kind, share int, system func(uint64) sim.System, parts ...any) {
		all = append(all, Play{Kind: kind, Name: name(append([]any{kind}, parts...)...), lock: l, share: share, system: system})
	}
	for _, way := range Ways(l.Spec) {
		for _, tree := range s.trees("core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2") {
			for crashes := range 3 {
				g := Game{l, tree, s.acquisitions(3), crashes, way}
				if crashes == 0 {
					add(Seeds, 1, g.System, nameOf(tree), way)
				} else {
					add(Crashes, 1, g.System, crashes, nameOf(tree), way)
				}
			}
			for i, faults := range mixedFaults {
				add(Mixed, 2, mixture{l, tree, way, faults}.system, [...]string{"calm", "late", "crash"}[i], nameOf(tree), way)
			}
		}
		for i, text := range MachinesOf256 {
			tree := machine(text)
			if s.Tree != nil || tree.Ranks() > max(16, s.Ranks) {
				break
			}
			g := Game{l, tree, s.acquisitions([...]int{20, 20, 4, 2}[i]), 0, way}
			add(Large, 16<<(2*i), g.System, nameOf(tree), way)
		}
	}
	return all
}

// mixedFaults are the faults of a mixture.
var mixedFaults = []sim.Faults{{}, {Delays: 2, Pauses: 1}, {Crashes: 1}}

// MachinesOf256 are the machines of Schmid, Besta and Hoefler, HPDC'16, §4.4: one to four
// levels, with the same number of children everywhere, and up to 256 ranks.
var MachinesOf256 = []string{"core:4", "node:4 core:4", "rack:4 node:4 core:4", "group:4 rack:4 node:4 core:4"}

// searches are the plays that visit every schedule.
func searches(l Lock, s Setting) (all []Play) {
	add := func(kind Kind, system sim.System, parts ...any) {
		all = append(all, Play{Kind: kind, Name: name(append([]any{kind}, parts...)...), lock: l, every: true,
			system: func(uint64) sim.System { return system }})
	}
	gone := l.Spec.Aborts == locks.Always
	for _, way := range Ways(l.Spec) {
		for _, protocol := range Protocols(l) {
			for _, tree := range s.trees("core:2", "node:2 core:1") {
				g := Game{l, tree, 0, 0, way}
				for _, cast := range g.Casts() {
					contest := func(kind Kind, acquisitions int, faults sim.Faults) {
						g := g
						g.Acquisitions = s.acquisitions(acquisitions)
						add(kind, g.Searched(cast, faults, protocol.Set), nameOf(tree), way, protocol.Name, roles(l, cast))
					}
					contest(States, 2, sim.Faults{})
					contest(Crash, 1, sim.Faults{Crashes: 1})
					contest(Split, 1, sim.Faults{Splits: 1})
					if gone {
						contest(Cancel, 1, sim.Faults{Cancels: 2})
						contest(CancelCrash, 1, sim.Faults{Cancels: 1, Crashes: 1})
					}
				}
			}
			all = append(all, rareSearches(l, s, way, protocol)...)
		}
	}
	return all
}

// roles says which ranks of a lock read. An exclusive lock has only writers.
func roles(l Lock, cast []bool) string {
	if l.Spec.Kind == locks.Exclusive {
		return ""
	}
	return nameOfCast(cast)
}

// rareSearches are searches with ranks that try, or that give up for good.
func rareSearches(l Lock, s Setting, way Way, protocol lockstest.Variant) (all []Play) {
	add := func(kind Kind, tree *topology.Tree, system func(Game) sim.System) {
		p := Play{Kind: kind, Name: name(kind, nameOf(tree), way, protocol.Name), lock: l, every: true}
		p.system = func(uint64) sim.System { return system(Game{l, tree, 1, 0, way}) }
		all = append(all, p)
	}
	trees := []string{"core:3", "node:3 core:1"}
	if l.Spec.Aborts == locks.Never {
		trees = []string{"core:2", "node:2 core:1", "node:2 core:2"}
	}
	if l.tries() {
		for _, tree := range s.trees(trees...) {
			add(Try, tree, func(g Game) sim.System { return g.trying(protocol.Set) })
		}
	}
	if l.Spec.Kind == locks.ReaderWriter && !l.Bare {
		for _, tree := range s.trees("core:3") {
			if tree.Ranks() > 2 {
				add(Leave, tree, func(g Game) sim.System { return g.leaving(protocol.Set) })
			}
		}
	}
	return all
}
