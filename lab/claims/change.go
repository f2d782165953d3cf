package claims

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma/model"
)

// Change is a variant of what a study plays. It takes away a difference that claims are about. A claim that holds
// with and without the difference is no evidence of it.
type Change struct {
	Name, About string
	// Machine changes the machine.
	Machine func(*model.Model)
	// Study changes what is played.
	Study func(*Study)
	// Fits reports whether the study has what the change takes away; nil: each study has.
	Fits func(Study) bool
	// Data exchanges the contenders. Nothing has to be played again: a contender's figures do not depend on its name.
	Data func(Data) Data
}

// Changes are all variants, in the order in which they are tried: those that take away the least first.
func Changes() []Change {
	return []Change{
		{Name: "no lists", About: "an access of a dynamic window does not look at the target's list", Fits: func(s Study) bool { return slices.Contains(s.Kinds, "dynamic") },
			Machine: func(m *model.Model) { m.Lists = 0 }},
		{Name: "no instructions", About: "ranks of a node reach each other's memory by calls of MPI only", Fits: func(s Study) bool {
			return strings.HasPrefix(s.Figure, "Uffmann22 benchmark 5.8") || s.Figure == "Uffmann22 benchmark 5.9" || s.Figure == "Uffmann22 benchmark 5.10"
		},
			Machine: func(m *model.Model) { m.Direct = nil }},
		{Name: "no receive", About: "a server receives a message for nothing", Fits: func(s Study) bool { return s.Benchmark == "PINGPONG" },
			Machine: func(m *model.Model) { m.Receive = 0 }},
		{Name: "small T_R", About: "T_R is a hundredth", Study: smallTR,
			Fits: func(s Study) bool {
				return slices.ContainsFunc(s.Series, func(c Contender) bool { return c.Options.TR > 0 })
			}},
		{Name: "alike", About: "each contender is the first one", Data: alikeData},
		{Name: "exchanged", About: "each contender is the next one of the figure", Data: exchanged},
		{Name: "near", About: "other nodes are as near as the own one", Machine: near},
		{Name: "far", About: "other nodes are ten times as far away", Machine: far},
		{Name: "spin", About: "each contender is foMPI's spin lock, or its lock of readers and writers", Study: spinning},
		{Name: "long", About: "a rank works 20 us in each section", Study: func(s *Study) { s.Inside = 20_000 }},
	}
}

// ChangeByName finds a change.
func ChangeByName(name string) (Change, bool) {
	all := Changes()
	i := slices.IndexFunc(all, func(c Change) bool { return c.Name == name })
	if i < 0 {
		return Change{}, false
	}
	return all[i], true
}

func alikeData(d Data) Data {
	of := Data{shows: d.shows}
	for _, l := range d.Lines {
		of.Lines = append(of.Lines, Line{l.Name, d.Lines[0].Points})
	}
	return of
}

func exchanged(d Data) Data {
	of := Data{shows: d.shows}
	for i, l := range d.Lines {
		of.Lines = append(of.Lines, Line{l.Name, d.Lines[(i+1)%len(d.Lines)].Points})
	}
	return of
}

// smallTR makes T_R so small that it is reached.
func smallTR(s *Study) {
	s.Series = slices.Clone(s.Series)
	for i := range s.Series {
		s.Series[i].Options.TR = (s.Series[i].Options.TR + 99) / 100
	}
}

// near makes the network as fast as the memory of a node.
func near(m *model.Model) {
	last := len(m.Levels) - 1
	level := m.Levels[last].Level
	m.Levels = slices.Clone(m.Levels)
	m.Levels[last] = m.Levels[last-1]
	m.Levels[last].Level = level
}

func far(m *model.Model) {
	last := len(m.Levels) - 1
	m.Levels = slices.Clone(m.Levels)
	l := &m.Levels[last]
	for _, c := range []*model.Cost{&l.Put, &l.Get, &l.Atomic} {
		c.Alpha *= 10
	}
}

func spinning(s *Study) {
	s.Series = slices.Clone(s.Series)
	for i := range s.Series {
		c := &s.Series[i]
		lock, _ := lab.LockByName(c.Lock)
		*c = Contender{Name: c.name(), Lock: "foMPI-Spin", Writers: c.Writers}
		if lock.Kind == locks.ReaderWriter {
			c.Lock = "foMPI-RW"
		}
	}
}

// changed plays the study with a change. The data are those without it.
func (s Study) changed(ctx context.Context, c Change, without Data) (Data, error) {
	if c.Data != nil {
		return c.Data(without), nil
	}
	if c.Study != nil {
		c.Study(&s)
	}
	s.machine = c.Machine
	return s.play(ctx, nil)
}

// Test says which change makes a claim fail.
type Test struct{ Figure, Claim, Change string }

// String is the test in a line of the file.
func (t Test) String() string { return fmt.Sprintf("%s | %s | %s", t.Figure, t.Change, t.Claim) }

//go:embed testdata/changes.txt
var changesFile string

// Tests are the tests of all claims that have one. TestChanges plays them.
func Tests() (all []Test) {
	for line := range strings.Lines(changesFile) {
		figure, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		change, claim, ok := strings.Cut(rest, " | ")
		if ok && !strings.HasPrefix(line, "#") {
			all = append(all, Test{figure, claim, change})
		}
	}
	return all
}

// testOf is the change that makes a claim fail, or "" if none is known.
func testOf(figure, claim string) string {
	for _, t := range Tests() {
		if t.Figure == figure && t.Claim == claim {
			return t.Change
		}
	}
	return ""
}

// Search looks for a change that makes each claim fail that holds. It returns a test for each that it finds, and the claims
// that no change makes fail.
func Search(ctx context.Context, studies []Study, progress func(string)) (found []Test, untested []Test, err error) {
	for _, s := range studies {
		without, err := s.play(ctx, progress)
		if err != nil {
			return found, untested, err
		}
		var open []Claim
		for _, c := range s.Claims {
			if _, holds := c.Judge(&without); holds {
				open = append(open, c)
			}
		}
		for _, change := range Changes() {
			if len(open) == 0 {
				break
			}
			if change.Fits != nil && !change.Fits(s) {
				continue
			}
			if progress != nil {
				progress(s.Figure + ": " + change.Name)
			}
			with, err := s.changed(ctx, change, without)
			if err != nil {
				continue // such a machine or such a lock cannot play the study
			}
			open = slices.DeleteFunc(open, func(c Claim) bool {
				_, holds := c.Judge(&with)
				if !holds {
					found = append(found, Test{s.Figure, c.Text, change.Name})
				}
				return !holds
			})
		}
		for _, c := range open {
			untested = append(untested, Test{s.Figure, c.Text, ""})
		}
	}
	return found, untested, nil
}
