package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/tune"
)

// tuned is a candidate of orwl-lab tune. A figure that was not played is null, or empty in CSV.
type tuned struct {
	Lock      string        `json:"lock"`
	Options   string        `json:"options"` // in Go's syntax
	Default   bool          `json:"default"` // the others are compared with this one
	Predicted *float64      `json:"predicted_ns"`
	CV        *float64      `json:"predicted_cv"`
	Wait      *float64      `json:"predicted_wait_p99_ns"`
	Bounds    bool          `json:"keeps_bounds"` // in virtual time
	Measured  *lab.Estimate `json:"measured_ns"`
	MeasuredC *lab.Estimate `json:"measured_cv"`
	MeasuredW *lab.Estimate `json:"measured_wait_p99_ns"`
	Gain      *lab.Estimate `json:"gain"`
	Best      bool          `json:"best"` // surely faster than the default, and no other is faster
}

// tunedRows are the default, and then the candidates with the best first.
func tunedRows(asItIs tune.Candidate, found []tune.Scored, gains []tune.Gain, bounds tune.Bounds) []tuned {
	rows := []tuned{{Lock: asItIs.Lock.Name, Options: asItIs.Literal(), Default: true, Bounds: true}}
	for _, c := range found {
		r := tuned{Lock: c.Lock.Name, Options: c.Literal(), Predicted: &c.Cost, CV: &c.CV, Wait: &c.Score.Wait, Bounds: c.Beyond == 0}
		if same(c.Candidate, asItIs) {
			r.Default = true
			rows[0] = r
		} else {
			rows = append(rows, r)
		}
	}
	best, most := -1, 1.0
	for _, g := range gains {
		i := slices.IndexFunc(rows, func(r tuned) bool { return r.Lock == g.Lock.Name && r.Options == g.Literal() })
		if i < 0 || g.Gain.N == 0 {
			continue
		}
		rows[i].Measured, rows[i].MeasuredC, rows[i].MeasuredW, rows[i].Gain = &g.Cost, &g.CV, &g.Wait, &g.Gain
		if i > 0 && g.Gain.Low > 1 && g.Gain.Median > most && fairEnough(g, gains[0], bounds) {
			best, most = i, g.Gain.Median
		}
	}
	if best > 0 {
		rows[best].Best = true
	}
	return rows
}

// fairEnough reports whether a candidate keeps the bounds on the window, or is at least as fair as
// the default there.
func fairEnough(g, asItIs tune.Gain, b tune.Bounds) bool {
	keeps := func(v, bound, other float64) bool { return bound == 0 || v <= max(bound, other) }
	return keeps(g.CV.Median, b.CV, asItIs.CV.Median) && keeps(g.Wait.Median, b.Wait, asItIs.Wait.Median)
}

var tunedColumns = []string{"lock", "options", "default", "predicted_ns", "predicted_cv", "predicted_wait_p99_ns", "keeps_bounds",
	"measured_ns", "measured_low", "measured_high", "measured_cv", "measured_wait_p99_ns", "gain", "gain_low", "gain_high", "gain_sure", "best"}

func (r tuned) fields() []string {
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 6, 64)
	}
	median := func(e *lab.Estimate) string {
		if e == nil {
			return ""
		}
		return number(&e.Median)
	}
	all := func(e *lab.Estimate) []string {
		if e == nil {
			return []string{"", "", ""}
		}
		return []string{number(&e.Median), number(&e.Low), number(&e.High)}
	}
	sure := ""
	if r.Gain != nil {
		sure = number(&r.Gain.Sure)
	}
	return slices.Concat([]string{r.Lock, r.Options, strconv.FormatBool(r.Default), number(r.Predicted), number(r.CV), number(r.Wait), strconv.FormatBool(r.Bounds)},
		all(r.Measured), []string{median(r.MeasuredC), median(r.MeasuredW)}, all(r.Gain), []string{sure, strconv.FormatBool(r.Best)})
}

// write prints the rows, and what to paste.
func (t *tuning) write(out io.Writer, rows []tuned) error {
	if !t.form.text() {
		return writeRows(out, t.form, tunedColumns, rows, tuned.fields)
	}
	plan := t.workload.Plan
	var benches, trees []string
	for _, b := range plan.Benchmarks {
		benches = append(benches, b.Name)
	}
	for _, tree := range plan.Machines {
		trees = append(trees, tree.String())
	}
	fmt.Fprintf(out, "%s on %s: %s\n", strings.Join(benches, ", "), strings.Join(trees, "; "), t.goal)
	fmt.Fprintf(out, "searched in %d plays of %v on %s, verified on %s\n\n", t.plays, t.virtualTime(), figuresOf(t.machine), plan.Windows[0])
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "lock\tpredicted\tcv\tp99 wait\tmeasured\tcv\tp99 wait\tgain\tinterval\toptions")
	for _, r := range rows {
		r.line(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, "\n", verdictOfTuning(rows))
	return err
}

// line is a row of the table.
func (r tuned) line(w io.Writer) {
	cells := []string{r.Lock, "-", "-", "-", "-", "-", "-", "-", "-", r.Options}
	if r.Predicted != nil {
		cells[1], cells[2], cells[3] = ns(*r.Predicted), fmt.Sprintf("%.2f", *r.CV), ns(*r.Wait)
		if !r.Bounds {
			cells[2] += " beyond"
		}
	}
	if r.Measured != nil {
		cells[4], cells[5], cells[6] = ns(r.Measured.Median), fmt.Sprintf("%.2f", r.MeasuredC.Median), ns(r.MeasuredW.Median)
		cells[7], cells[8] = fmt.Sprintf("%.2f", r.Gain.Median), fmt.Sprintf("%.2f to %.2f", r.Gain.Low, r.Gain.High)
	}
	if r.Default {
		cells[9] += ", the default"
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// verdictOfTuning says what to paste, if anything is worth it.
func verdictOfTuning(rows []tuned) string {
	verified := slices.ContainsFunc(rows, func(r tuned) bool { return r.Gain != nil })
	i := slices.IndexFunc(rows, func(r tuned) bool { return r.Best })
	switch {
	case !verified:
		return "Nothing was verified.\n"
	case i < 0:
		return fmt.Sprintf("No candidate is surely faster than %s as it is.\n", rows[0].Lock)
	}
	r := rows[i]
	return fmt.Sprintf("%s is %.2f times as fast as %s as it is (%.0f %% sure: %.2f to %.2f):\n\n\tlock, options := %q, %s\n",
		r.Lock, r.Gain.Median, rows[0].Lock, 100*r.Gain.Sure, r.Gain.Low, r.Gain.High, r.Lock, r.Options)
}

// ns is a time in nanoseconds, with three digits.
func ns(v float64) string {
	d := time.Duration(v)
	switch {
	case v < 1000:
		return fmt.Sprintf("%.3g ns", v)
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g us", v/1e3)
	}
	return fmt.Sprintf("%.3g ms", v/1e6)
}
