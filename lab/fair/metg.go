package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/lab/taskbench"
)

// metgCases are METG(50 %) of Task Bench's stencil, whose tasks read three outputs of the step before.
func metgCases() (all []Case) {
	for _, width := range []int{2, 16, 256, 4096} {
		all = append(all, Case{
			Name: fmt.Sprintf("metg-%d", width), Unit: "METG(50 %) in ns", Turns: 3,
			Work: fmt.Sprintf("stencil_1d of Task Bench, %d columns, compute_bound", width),
			Open: func(_ context.Context, s *Shop) (all []Contender, err error) {
				for _, name := range []string{"orwl", "mpi", "openmp", "channels", "barrier"} {
					all = append(all, s.metg(name, width))
				}
				return all, nil
			},
		})
	}
	return all
}

// metg is a system of package taskbench.
func (s *Shop) metg(name string, width int) Contender {
	form := "lab/taskbench/" + name + ".go"
	if name == "mpi" || name == "openmp" {
		form = "lab/taskbench/peers/" + name + ".c; -O3 -march=native"
	}
	return Contender{name, form, func(ctx context.Context) (figure float64, err error) {
		system, err := taskbench.Open(name, taskbench.Options{Workers: s.Workers})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, system.Close()) }()
		g := taskbench.NewGraph(0)
		g.Pattern, _ = taskbench.PatternByName("stencil_1d")
		g.Width, g.Steps, g.Kernel.Type = width, 100, taskbench.ComputeBound
		if err := g.Choose(); err != nil {
			return 0, err
		}
		m, err := taskbench.Sweep{Graphs: []taskbench.Graph{g}, Workers: s.Workers, Threshold: 0.5, Repeats: 1}.Run(ctx, system)
		return m.Granularity, err
	}}
}

// Cases are the cases that match a list of names. A name that ends with * stands for all names that begin so.
func Cases(patterns string) (found []Case, err error) {
	var names []string
	for _, c := range slices.Concat(llk23Cases(), []Case{cubeCase(), gradientsCase(), killCase()}, metgCases(), lockCases()) {
		names = append(names, c.Name)
		for pattern := range strings.SplitSeq(patterns, ",") {
			begin, open := strings.CutSuffix(pattern, "*")
			if c.Name == pattern || open && strings.HasPrefix(c.Name, begin) {
				found = append(found, c)
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no case %q: want some of %s, or a beginning with *", patterns, strings.Join(names, ", "))
	}
	return found, nil
}
