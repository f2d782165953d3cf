package lab

import (
	"reflect"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

type rankZero struct{ rma.Window }

func (rankZero) Rank() rma.Rank { return 0 }

func TestReadRecording(t *testing.T) {
	got, err := ReadRecording(strings.NewReader("when,outside_ns,rank,write,hold_ns\n5,100,1,false,20\n6,300.6,0,1,40\n7,0,1,true,0\n"))
	want := Recording{[][]Turn{{{true, 40, 301}}, {{false, 20, 100}, {true, 0, 0}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	const header = "rank,write,hold_ns,outside_ns\n"
	for text, want := range map[string]string{
		"":                                   "no header",
		"rank,write,hold_ns\n":               `no column "outside_ns"`,
		header:                               "it has no turns",
		header + "0,true,1\n":                "wrong number of fields",
		header + "-1,true,1,1\n":             `line 2: rank is "-1"`,
		header + "4096,true,1,1\n":           `line 2: rank is "4096"`,
		header + "0,maybe,1,1\n":             `line 2: write is "maybe"`,
		header + "0,true,1,1\n0,true,-1,1\n": `line 3: hold_ns is "-1"`,
		header + "0,true,1,NaN\n":            `outside_ns is "NaN"`,
		header + "0,true,1,1\n2,true,1,1\n":  "rank 1 of 3 has no turns",
		header + strings.Repeat("0,1,0,0\n", mostRecorded+1): "more than",
	} {
		if _, err := ReadRecording(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// A rank plays its turns in their order, and then begins again.
func TestRecordedTurns(t *testing.T) {
	r := player{Program: &Program{c: Case{Recording: &Recording{[][]Turn{{{true, 10, 20}, {false, 30, 40}}}}}}, w: rankZero{}}
	base := Section{Inside: Work{Spin: Range{1, 2}}}
	for i, want := range []struct {
		write         bool
		inside, after Range
	}{{true, Range{11, 12}, Range{20, 20}}, {false, Range{31, 32}, Range{40, 40}}, {true, Range{11, 12}, Range{20, 20}}} {
		s := r.recorded(base)
		rw := side{rw: struct{ locks.RWMutex }{}}
		if s.Inside.Spin != want.inside || s.After.Spin != want.after || r.writes(&rw) != want.write || !r.writes(&side{}) {
			t.Errorf("turn %d: %+v, writes %v; want %+v", i, s, r.writes(&rw), want)
		}
	}
}
