package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/net/rma/model"
)

// validation compares what the simulator predicts with what this machine does: ECSB of some
// locks, each window, and several numbers of ranks.
type validation struct {
	asked  bool
	locks  string
	length lab.Length
	form   form
}

// Where a model is validated.
var (
	validWindows = []string{arena.Mem, arena.SHM}
	validRanks   = []int{2, 8, 32}
)

// shortest is how long virtual time has to be, for all ranks to have had a time slice.
var shortest = map[string]time.Duration{arena.Mem: 20 * time.Millisecond, arena.SHM: 60 * time.Millisecond}

// defineValidation defines the flags of orwl-lab model -validate.
func defineValidation(f *flag.FlagSet) *validation {
	v := new(validation)
	f.BoolVar(&v.asked, "validate", false, "measure mem and shm, predict ECSB on the models, play it, and compare")
	f.StringVar(&v.locks, "lock", "tts,tkt,mcs,d-mcs,clh,hmcs,rma-mcs,c-mcs-mcs", "of -validate, "+command.Usage("lock", ", or several with commas between, patterns, or all"))
	f.DurationVar(&v.length.Time, "time", 200*time.Millisecond, "of -validate, "+command.Usage("time", ""))
	f.IntVar(&v.length.Turns, "turns", 0, "of -validate, "+command.Usage("turns", ""))
	f.IntVar(&v.length.Repeats, "repeats", 3, "of -validate, "+command.Usage("repeats", ""))
	f.BoolVar(&v.form.csv, "csv", false, "of -validate, "+command.Usage("csv", ""))
	v.length.Seed, v.length.Uncounted, v.length.Unchecked = 1, true, true // the witness is no memory of a window
	return v
}

// within is how far a prediction may be off.
const within = 0.25

// compared is a row of a validation.
type compared struct {
	Model     string  `json:"model"` // its hash
	Window    string  `json:"window"`
	Ranks     int     `json:"ranks"`
	Lock      string  `json:"lock"`
	Measured  float64 `json:"measured_ns"` // an iteration of all ranks
	Predicted float64 `json:"predicted_ns"`
	Off       float64 `json:"off"` // predicted of measured, less 1
	Within    bool    `json:"within"`
	// The parts of the iteration, measured and predicted.
	MeasuredParts  parts `json:"measured_parts"`
	PredictedParts parts `json:"predicted_parts"`
	// Why names the parts that the model has wrong, if the row is beyond.
	Why string `json:"why,omitempty"`
}

var comparedColumns = []string{"model", "window", "ranks", "lock", "measured_ns", "predicted_ns", "off", "within",
	"measured_free_ns", "predicted_free_ns", "measured_contended", "predicted_contended", "measured_hand_over_ns", "predicted_hand_over_ns", "why"}

func (c compared) fields() []string {
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	m, p := c.MeasuredParts, c.PredictedParts
	return []string{c.Model, c.Window, strconv.Itoa(c.Ranks), c.Lock, number(c.Measured, 1), number(c.Predicted, 1), number(c.Off, 3), strconv.FormatBool(c.Within),
		number(m.Free, 1), number(p.Free, 1), number(m.Contended, 4), number(p.Contended, 4), number(m.HandOver, 0), number(p.HandOver, 0), c.Why}
}

// run measures the machine, and then plays each case in turn: really, and in virtual time.
func (v *validation) run(out io.Writer) error {
	chosen, err := lab.MatchLocks(v.locks)
	if err != nil {
		return command.Misusef("-lock: %w", err)
	}
	if err := v.form.validate(); err != nil {
		return err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	progress := newProgress(os.Stderr)
	var rows []compared
	for _, window := range validWindows {
		machine, err := measureHere(window, 0)
		if err != nil {
			return err
		}
		progress.clear()
		fmt.Fprintf(os.Stderr, "the model of %s is %s\n", window, machine.Hash()) // before anything is compared
		for _, ranks := range validRanks {
			for _, lock := range chosen {
				if ctx.Err() != nil {
					break
				}
				progress.at(func() string { return fmt.Sprintf("%s of %d ranks on %s", lock.Name, ranks, window) })
				row, err := v.compare(ctx, machine, window, ranks, lock)
				if err != nil && ctx.Err() == nil {
					return err
				} else if err == nil {
					rows = append(rows, row)
				}
			}
		}
	}
	progress.clear()
	if err := v.write(out, rows); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errCutShort
	}
	return nil
}

// compare plays a case twice.
func (v *validation) compare(ctx context.Context, machine model.Model, window string, ranks int, lock lab.Lock) (compared, error) {
	c := lab.Case{Benchmark: "ECSB", Lock: lock.Name, Window: window, Machine: dealt(ranks, 1), Writers: 1, Length: v.length}
	row := compared{Model: machine.Hash(), Window: window, Ranks: ranks, Lock: lock.Name}
	var err error
	if row.Measured, row.MeasuredParts, err = iteration(ctx, c, model.Model{}); err != nil {
		return compared{}, err
	}
	c.Window, c.Repeats = arena.Sim, 1
	c.Time = min(c.Time, shortest[window])
	if row.Predicted, row.PredictedParts, err = iteration(ctx, c, machine); err != nil {
		return compared{}, err
	}
	row.Off = row.Predicted/row.Measured - 1
	row.Within = near(row.Predicted, row.Measured)
	if !row.Within {
		row.Why = why(row.MeasuredParts, row.PredictedParts)
	}
	return row, nil
}

// near reports whether a prediction is near enough.
func near(predicted, measured float64) bool {
	return predicted <= measured*(1+within) && predicted >= measured*(1-within)
}

// iteration is the time from one section to the next, in nanoseconds, and its parts.
func iteration(ctx context.Context, c lab.Case, machine model.Model) (float64, parts, error) {
	samples, err := arena.Play(ctx, c, arena.Options{Machine: machine})
	if err != nil {
		return 0, parts{}, fmt.Errorf("%s of %s on %s: %w", c.Benchmark, c.Lock, c.Window, err)
	}
	result, err := lab.Summarize(c, samples)
	if err != nil {
		return 0, parts{}, err
	}
	figure, ok := result.Figure(lab.FigureIteration)
	if !ok {
		return 0, parts{}, fmt.Errorf("%s of %s on %s: no rank had a turn in %v", c.Benchmark, c.Lock, c.Window, c.Time)
	}
	contended, _ := result.Figure(lab.FigureContended)
	window := c.Window
	if window != arena.Sim {
		window = arena.Mem // one rank alone waits for no other: it need not be a process
	}
	free, err := arena.Free(ctx, c.Lock, window, machine)
	return figure.Median, partsOf(figure.Median, free, contended.Median), err
}

func (v *validation) write(out io.Writer, rows []compared) error {
	if !v.form.text() {
		return writeRows(out, v.form, comparedColumns, rows, compared.fields)
	}
	fmt.Fprintf(out, "ECSB, one iteration of all ranks; predicted on models that orwl-lab model measured just before: %s\n\n", strings.Join(hashes(rows), ", "))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "window\tranks\tlock\tmeasured\tpredicted\toff\tbeyond 25 %: what the model has wrong")
	good := 0
	for _, r := range rows {
		if r.Within {
			good++
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.0f ns\t%.0f ns\t%+.0f %%\t%s\n", r.Window, r.Ranks, r.Lock, r.Measured, r.Predicted, 100*r.Off, r.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d of %d within 25 %%\n", good, len(rows))
	return err
}

// hashes lists the models of the rows: window and hash.
func hashes(rows []compared) (all []string) {
	for _, r := range rows {
		if text := r.Window + " " + r.Model; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
