package fair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/orwl/go-orwl/internal/native"
)

// Case is a piece of work that contenders do in turns.
type Case struct {
	Name  string
	Work  string // the task that all of them do
	Unit  string // of a figure
	Turns int    // at most so many; 0: as many as are asked for
	// Open makes the contenders. The first one is ours.
	Open func(ctx context.Context, s *Shop) ([]Contender, error)
	// Notes are lines below the table; nil: there are none.
	Notes func() []string
}

// Contender does the work of a case.
type Contender struct {
	Name string
	Form string // its source, and the flags that it is built with
	// Turn does the work once, and returns the figure.
	Turn func(ctx context.Context) (float64, error)
}

// Plan is what to measure.
type Plan struct {
	Cases  []Case
	Turns  int
	Beside []Beside
}

// Run measures all cases, and prints a table for each.
func (p Plan) Run(ctx context.Context, s *Shop, out io.Writer) error {
	for _, c := range p.Cases {
		if err := p.one(ctx, s, c, out); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// one measures a case. A contender that is not installed is left out, with a line that says what is missing.
func (p Plan) one(ctx context.Context, s *Shop, c Case, out io.Writer) error {
	contenders, err := c.Open(ctx, s)
	if err != nil {
		return err
	}
	for _, b := range p.Beside {
		if b.Case == c.Name {
			contenders = append(contenders, b.contender())
		}
	}
	turns := p.Turns
	if c.Turns > 0 {
		turns = min(turns, c.Turns)
	}
	fmt.Fprintf(out, "\n%s: %s; %s, medians of %d turns\n%v\n", c.Name, c.Work, c.Unit, turns, look())
	series, err := inTurns(ctx, contenders, turns)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tmedian\tleast\tmost\tours/this\tdisturbed\t")
	for i, r := range series {
		if r.missing != nil {
			fmt.Fprintf(w, "%s\t\t\t\t\t\t%v\n", contenders[i].Name, r.missing)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%d\t%s\n", contenders[i].Name, short(r.median()), short(slices.Min(r.figures)),
			short(slices.Max(r.figures)), series[0].median()/r.median(), r.disturbed, contenders[i].Form)
	}
	if err := w.Flush(); err != nil || c.Notes == nil {
		return err
	}
	for _, line := range c.Notes() {
		fmt.Fprintln(out, line)
	}
	return nil
}

// short is a figure with three digits, or as a whole number.
func short(figure float64) string {
	if figure >= 100 {
		return fmt.Sprintf("%.0f", figure)
	}
	return fmt.Sprintf("%.3g", figure)
}

// series is the figures of a contender.
type series struct {
	figures   []float64
	disturbed int   // so many of them were taken while others had processors
	missing   error // it is not installed
}

func (r series) median() float64 {
	sorted := slices.Sorted(slices.Values(r.figures))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// A turn counts if other programs had at most this share of the processors. One that does not is made again, so many times
// at most.
const (
	mostOthers = 0.05
	mostAgain  = 3
)

// inTurns lets the contenders take turns, and changes their order from turn to turn.
func inTurns(ctx context.Context, contenders []Contender, turns int) ([]series, error) {
	all := make([]series, len(contenders))
	for turn := range turns {
		for i := range contenders {
			i = (i + turn) % len(contenders)
			if r := &all[i]; r.missing == nil {
				if err := r.take(ctx, contenders[i]); err != nil {
					return nil, fmt.Errorf("%s: %w", contenders[i].Name, err)
				}
			}
		}
	}
	return all, nil
}

// take adds a turn.
func (r *series) take(ctx context.Context, c Contender) error {
	for again := 0; ; again++ {
		before := busyNow()
		figure, err := c.Turn(ctx)
		if errors.Is(err, native.ErrMissing) {
			r.missing = err
			return nil
		}
		if err != nil {
			return err
		}
		alone := busyNow().others(before) <= mostOthers
		if alone || again == mostAgain {
			r.figures = append(r.figures, figure)
			if !alone {
				r.disturbed++
			}
			return nil
		}
	}
}
