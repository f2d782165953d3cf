package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMatchLocks(t *testing.T) {
	for list, want := range map[string]string{
		"mcs":                           "MCS",
		"D-mcs, MCS mcs":                "D-MCS MCS",
		"c-mcs-m?s,HEM":                 "C-MCS-MCS HEM",
		"p-hmcs-tas":                    "P-HMCS-TAS",
		"clof-tkt-hem-ah-reciprocating": "CLoF-TKT-HEM-AH-Reciprocating",
		"p-reciprocating-mcs":           "P-Reciprocating-MCS",
		"clof-*-tts-clh": "CLoF-TTS-TTS-CLH CLoF-TKT-TTS-CLH CLoF-MCS-TTS-CLH CLoF-CLH-TTS-CLH CLoF-HEM-TTS-CLH " +
			"CLoF-HEM-AH-TTS-CLH CLoF-Reciprocating-TTS-CLH",
		"clof-*-*-*-*-*": "error: lab: no lock \"clof-*-*-*-*-*\"",
		"rma-*":          "RMA-MCS RMA-RW RMA-RW+ RMA-RW-A RMA-MCS-Acc",
		"dmcs,cmcsmcs":   "D-MCS C-MCS-MCS",
		"nosuch":         "error: lab: no lock \"nosuch\": want a name that orwl locks lists, a pattern, or all",
		"[":              "error: lab: \"[\" is no pattern",
		"":               "error: lab: no lock given",
	} {
		found, err := MatchLocks(list)
		if want, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: the error is %v, want %s", list, err, want)
			}
			continue
		}
		var names []string
		for _, s := range found {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%q: %s (%v), want %s", list, got, err, want)
		}
	}
	if all, err := MatchLocks("all"); err != nil || len(all) != len(Locks()) {
		t.Errorf("all are %d locks (%v), want %d", len(all), err, len(Locks()))
	}
}

// TestSectionCCWB checks the figures of Uffmann22 §4.2.3: with 112 ranks a rank does 336 operations on
// average, and 3 of them are its share.
func TestSectionCCWB(t *testing.T) {
	for _, k := range []int64{0, 3, 5} {
		s := sectionCCWB(112, float64(k))
		if all := s.Inside.Increments.mean() + s.After.Increments.mean(); all != 336 || s.Inside.Increments != (Range{k, k}) {
			t.Errorf("k = %d: %+v, want 336 operations in all", k, s)
		}
	}
}

// TestSectionWBAB checks that the mean wait divided by the ranks is the step (§4.2.4).
func TestSectionWBAB(t *testing.T) {
	s := sectionWBAB(28, 0.25)
	if mean := s.Before.Spin.mean() / 28; mean < 249 || mean > 251 || s.Before.Spin.Most != 2*s.Before.Spin.Least {
		t.Errorf("%+v: %g ns for each rank, want 250", s, mean)
	}
}

func TestCases(t *testing.T) {
	tree, err := topology.Parse("node:1 core:2")
	if err != nil {
		t.Fatal(err)
	}
	benchmarks, err := MatchBenchmarks("ecsb,upb,ccwb")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := MatchLocks("mcs,rma-rw")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Benchmarks: benchmarks, Locks: rows, Windows: []string{"mem", "sim"}, Machines: []*topology.Tree{tree},
		Writers: []float64{.002, 1}, Steps: []float64{3}, Inside: []time.Duration{0, 5}, Options: locks.Options{TR: 7},
		Length: Length{Turns: 1, Repeats: 1},
	}
	cases, skipped := p.Cases()
	// Two benchmarks, two windows, MCS and twice RMA-RW, two works.
	if len(cases) != 2*2*3*2 {
		t.Errorf("%d cases, want 24", len(cases))
	}
	if len(skipped) != 1 || !strings.Contains(skipped[0], "UPB on node:1 core:2: want two ranks") {
		t.Errorf("skipped is %q, want UPB once", skipped)
	}
	for _, c := range cases {
		if (c.Options.TR == 7) != (c.Lock == "RMA-RW") || (c.Step == 3) != (c.Benchmark == "CCWB") {
			t.Errorf("%+v: T_R is RMA-RW's option, and the step CCWB's", c)
		}
	}
}

// TestVary checks that only loops around a lock vary by work, and only reader-writer locks by F_W.
func TestVary(t *testing.T) {
	p := Plan{Writers: []float64{.1, .2}, Inside: []time.Duration{1, 2, 3}, Outside: []time.Duration{4, 5}}
	for _, c := range []struct {
		bench string
		kind  locks.Kind
		want  int
	}{{"ECSB", locks.ReaderWriter, 12}, {"ECSB", locks.Exclusive, 6}, {"UPB", locks.ReaderWriter, 1}} {
		b, err := BenchmarkByName(c.bench)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for v := range p.Vary(Case{Step: 7}, b, c.kind) {
			if v.Step != 7 || (v.Writers == 1) != (c.want != 12) || (v.Inside == 0) != (c.bench == "UPB") {
				t.Errorf("%s: %+v", c.bench, v)
			}
			seen[fmt.Sprint(v.Writers, v.Inside, v.Outside)] = true
		}
		if len(seen) != c.want {
			t.Errorf("%s of a %v lock: %d cases, want %d", c.bench, c.kind, len(seen), c.want)
		}
	}
	for range p.Vary(Case{}, Benchmarks()[0], locks.ReaderWriter) {
		break // an iterator that goes on panics
	}
}

func TestCaseIsChecked(t *testing.T) {
	good := Case{Length: Length{Turns: 1, Repeats: 1}}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(c *Case){
		"Case.Writers is 2":   func(c *Case) { c.Writers = 2 },
		"Case.Turns is -1":    func(c *Case) { c.Turns = -1 },
		"Case.Time is 0s":     func(c *Case) { c.Turns = 0 },
		"Case.Repeats is 0":   func(c *Case) { c.Repeats = 0 },
		"Case.Inside is -1ns": func(c *Case) { c.Inside = -1 },
	} {
		c := good
		if spoil(&c); c.validate() == nil || !strings.Contains(c.validate().Error(), want) {
			t.Errorf("the error is %v, want %s", c.validate(), want)
		}
	}
}

func TestBenchmarkNamesDiffer(t *testing.T) {
	names := benchmarkNames()
	for i, name := range names {
		if slices.Index(names, name) != i {
			t.Errorf("two benchmarks are called %s", name)
		}
	}
}
