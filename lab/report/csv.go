package report

import (
	"encoding/csv"
	"fmt"
	"io"
)

// CSV writes a line for each figure of each result.
func (r *Report) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	w.Write([]string{"bench", "lock", "window", "machine", "ranks", "fw", "step", "inside_ns", "outside_ns",
		"figure", "unit", "median", "low", "high", "repeats", "note"})
	for _, x := range r.Results {
		for _, f := range x.Figures {
			w.Write([]string{x.Benchmark, x.Lock, x.Window, x.Machine, fmt.Sprint(x.Ranks), fmt.Sprint(x.Writers), fmt.Sprint(x.Step),
				fmt.Sprint(x.Inside.Nanoseconds()), fmt.Sprint(x.Outside.Nanoseconds()),
				f.Name, f.Unit, fmt.Sprint(f.Median), fmt.Sprint(f.Low), fmt.Sprint(f.High), fmt.Sprint(f.N), x.Note})
		}
	}
	w.Flush()
	return w.Error()
}
