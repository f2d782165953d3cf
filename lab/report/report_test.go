package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/lab"
)

// some is a report of made-up figures: two locks, two windows, two numbers of ranks, and a sweep.
func some() *Report {
	r := &Report{Title: "a <title>", Command: "orwl-lab bench", Machine: "no machine", Skipped: []string{"this & that"}}
	figures := func(v float64) []lab.Figure {
		f := func(name, unit string, v float64) lab.Figure {
			return lab.Figure{Name: name, Unit: unit, Estimate: lab.Estimate{Median: v, Low: v / 2, High: 2 * v, N: 6, Sure: 0.97}}
		}
		return []lab.Figure{f(lab.FigureThroughput, "1/s", 1e6*v), f(lab.FigureIteration, "ns", 1000/v), f(lab.FigureOptimum, "ns", 100),
			f(lab.FigureOverhead, "ns", 900), f(lab.FigureLatency, "ns", 12*v), f(lab.FigureWait+" p50", "ns", 30*v), f(lab.FigureFairness, "", 0.021),
			f(lab.FigureContended, "", 1), f("1a", "ns", 40*v), f("1b", "ns", 50*v), f("1c", "ns", 60*v)}
	}
	for _, b := range lab.Benchmarks() {
		for i, window := range []string{"mem", "shm"} {
			for _, ranks := range []int{4, 8} {
				for j, lock := range []string{"MCS", "RMA-RW"} {
					for step := range 3 {
						c := lab.Case{Benchmark: b.Name, Lock: lock, Window: window, Machine: fmt.Sprintf("node:2 core:%d", ranks/2), Writers: 1, Step: float64(step)}
						if lock == "RMA-RW" {
							c.Writers = 0.002
						}
						result := lab.Result{Case: c, Ranks: ranks, Figures: figures(float64(ranks + i + j + step))}
						if b.Section != nil {
							result.Waits = &lab.Histogram{N: 4, Least: 3, Most: 300, Buckets: map[int]uint64{3: 3, 40: 1}}
							result.Turns = make([]uint64, ranks)
							result.Turns[0] = 7
						}
						r.Results = append(r.Results, result)
					}
				}
			}
		}
	}
	return r
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := some().Table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ECSB: throughput of an empty section (HPDC16 §5, Uffmann22 §4.2.2)\non node:2 core:2; node:2 core:4\n",
		"mem     4      MCS                4 M/s       2..8 ", "mem     8      RMA-RW, F_W 0.2 %  11 M/s", "2.1 %", "left out: this & that", "\n  cv: standard deviation of the ranks' iterations by their mean; 0 is fair\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table has no %q:\n%.2000s", want, out.String())
		}
	}
}

// TestHTML parses the page as XML where it has to be: in its pictures.
func TestHTML(t *testing.T) {
	var out strings.Builder
	if err := some().HTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if strings.Contains(page, "http://") != strings.Contains(page, "http://www.w3.org/2000/svg") || strings.Contains(page, "https://") || strings.Contains(page, "NaN") {
		t.Error("the page needs something from elsewhere, or has a value that is no number")
	}
	for _, want := range []string{"a &lt;title&gt;", "this &amp; that", "ECSB on mem: throughput", "CCWB on shm, 8 ranks: iteration", "optimum", "UPB on mem, 4 ranks", "ECSB on mem, 4 ranks: waits", "ECSB on shm, 8 ranks: each rank&#39;s share", "0 is fair; "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	pictures := 0
	for _, part := range strings.Split(page, "<svg")[1:] {
		picture, _, ok := strings.Cut(part, "</svg>")
		if !ok {
			t.Fatal("a picture does not end")
		}
		pictures++
		d := xml.NewDecoder(strings.NewReader("<svg" + picture + "</svg>"))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("a picture is no XML: %v:\n%s", err, picture)
			}
		}
	}
	if pictures < 20 {
		t.Errorf("%d pictures, want one at least for each benchmark and window", pictures)
	}
}

func TestCSV(t *testing.T) {
	var out strings.Builder
	if err := some().CSV(&out); err != nil {
		t.Fatal(err)
	}
	if want := "ECSB,RMA-RW,shm,node:2 core:4,8,0.002,1,0,0,throughput,1/s,1.1e+07,5.5e+06,2.2e+07,6,\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q", want)
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 3: "3", 2.346: "2.35", 23.46: "23.5", 234.6: "235", 0.1234: "0.123", 1e-6: "1e-06", -2.346: "-2.35"} {
		if got := digits(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{1.5e9: "1.50 s", 2.5e3: "2.50 us", 12: "12 ns", 0: "0 ns"} {
		if got := show(v, "ns"); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
}

// TestSpread draws the waits of one acquire of four that takes long, and the shares of ranks of which one has all.
func TestSpread(t *testing.T) {
	r := lab.Result{Waits: &lab.Histogram{N: 4, Buckets: map[int]uint64{3: 3, 40: 1}}, Turns: []uint64{6, 0, 0}}
	if got := fmt.Sprint(waitsOf(r)); got != "[{2 75 0 0} {32 25 0 0}]" {
		t.Errorf("the waits are %s", got)
	}
	if got := fmt.Sprint(sharesOf(r)); got != "[{0 3 0 0} {1 0 0 0} {2 0 0 0}]" {
		t.Errorf("the shares are %s", got)
	}
	if got := waitsOf(lab.Result{}); got != nil {
		t.Errorf("a result without waits has %v", got)
	}
}

// One repeat has no interval.
func TestOneRepeat(t *testing.T) {
	r := some()
	for i := range r.Results {
		for j := range r.Results[i].Figures {
			r.Results[i].Figures[j].N, r.Results[i].Figures[j].Sure = 1, 0
		}
	}
	var out strings.Builder
	if err := r.Table(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "(0 %)") || strings.Contains(out.String(), "4 M/s       2..8") {
		t.Errorf("one repeat has an interval:\n%.500s", out.String())
	}
}
