package fair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/internal/rings"
)

// constant is a contender that always has the same figure: how often it has a turn depends on what else the machine does.
func constant(name string, figure float64) Contender {
	return Contender{name, "a form", func(context.Context) (float64, error) { return figure, nil }}
}

// TestTable has medians, ranges and ratios of all contenders, and says what is missing.
func TestTable(t *testing.T) {
	missing := Contender{"absent", "", func(context.Context) (float64, error) { return 0, fmt.Errorf("absent: %w", native.ErrMissing) }}
	c := Case{Name: "count", Work: "it counts", Unit: "ns", Open: func(context.Context, *Shop) ([]Contender, error) {
		return []Contender{constant("ours", 2), constant("peer", 8), missing}, nil
	}}
	beside := []Beside{{"count", "other", "echo 4 ns"}, {"another case", "none", "false"}}
	var out bytes.Buffer
	if err := (Plan{Cases: []Case{c}, Turns: 3, Beside: beside}).Run(t.Context(), NewShop("", ""), &out); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	for _, line := range strings.Split(out.String(), "\n") {
		if words := strings.Fields(line); len(words) > 3 {
			rows[words[0]] = words
		}
	}
	for name, want := range map[string]string{"ours": "2 2 2 1.00", "peer": "8 8 8 0.25", "other": "4 4 4 0.50", "absent": "absent: not installed"} {
		if got := strings.Join(rows[name], " "); !strings.HasPrefix(got, name+" "+want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, &out)
		}
	}
}

// The median is the figure in the middle, or the mean of two.
func TestMedian(t *testing.T) {
	for want, figures := range map[float64][]float64{3: {9, 1, 3}, 2.5: {4, 1, 9, 1}} {
		if got := (series{figures: figures}).median(); got != want {
			t.Errorf("%v: %v, want %v", figures, got, want)
		}
	}
}

// TestRunEnds ends with the error of a contender, and names it.
func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	c := Case{Name: "count", Open: func(context.Context, *Shop) ([]Contender, error) {
		return []Contender{{"ours", "", func(context.Context) (float64, error) { return 0, broken }}}, nil
	}}
	err := (Plan{Cases: []Case{c}, Turns: 1}).Run(t.Context(), NewShop("", ""), new(bytes.Buffer))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "count: ours") {
		t.Errorf("got %v, want the error of count: ours", err)
	}
}

// TestFigures reads what programs print.
func TestFigures(t *testing.T) {
	for text, want := range map[string]float64{"1.5 ns/element": 1.5, "took 2 s, 0.25 us a task": 0.25, `{"ns_per_element": 0.75}`: 0.75} {
		if got, err := figureOf(exec.Command("echo", text)); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := figureOf(exec.Command("echo", "nothing")); err == nil {
		t.Error("a program without a figure: no error")
	}
}

// TestReadBeside has comments and empty lines, and refuses half a line.
func TestReadBeside(t *testing.T) {
	got, err := ReadBeside(strings.NewReader("# others\n\ncube other ./j3d 192 1\n"))
	if want := (Beside{"cube", "other", "./j3d 192 1"}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := ReadBeside(strings.NewReader("cube other")); err == nil {
		t.Error("a line without a command: no error")
	}
}

// TestOthers is the share of the processors that was not ours.
func TestOthers(t *testing.T) {
	begin := time.Now()
	before := busy{begin, time.Second, time.Second}
	after := busy{begin.Add(time.Second), 2 * time.Second, 2 * time.Second}
	if got := after.others(before); got != 0 {
		t.Errorf("all time was ours: others had %v, want 0", got)
	}
	after.ours = time.Second
	if got, want := after.others(before), 1/float64(runtime.NumCPU()); got != want {
		t.Errorf("no time was ours: others had %v, want %v", got, want)
	}
}

// TestCases finds cases by name and by a beginning.
func TestCases(t *testing.T) {
	for list, want := range map[string]int{"cube": 1, "metg-*": 4, "cube,metg-2": 2, "cg": 1, "locks-*": 4, "kill": 1, "*": 15} {
		if got, err := Cases(list); len(got) != want || err != nil {
			t.Errorf("%s: %d cases, %v, want %d", list, len(got), err, want)
		}
	}
	if _, err := Cases("none"); err == nil {
		t.Error("a name of no case: no error")
	}
}

// TestExactPeersHaveOurBits runs the peers of conjugate gradients with exact sums, on any number of workers, and our grid.
func TestExactPeersHaveOurBits(t *testing.T) {
	rings.Needs(t, rings.Change)
	poisson := filepath.Join(t.TempDir(), "poisson")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", poisson, "./examples/poisson")
	build.Dir = "../.." // lab is another module
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	s := NewShop("", poisson)
	defer s.Close()
	for s.Workers = range 4 {
		if s.Workers == 0 {
			continue
		}
		peers, err := s.exactPeers(t.Context(), plate{67, 40})
		if err != nil {
			t.Error(err)
		}
		if peers == 0 {
			t.Skip("no peer is installed")
		}
	}
}

// TestPeersHaveTheSameBits runs all peers of LLK23 that are installed. The forms compute in different orders, and the bits
// of their matrices are the same.
func TestPeersHaveTheSameBits(t *testing.T) {
	rings.Needs(t, rings.Change)
	s := NewShop("", "")
	defer s.Close()
	for _, kernel := range []string{"fast", "listing"} {
		var first, from string
		n := 0
		if err := s.eachPeer(t.Context(), matrix{118, 134, 4, 4, 8}, kernel, filepath.Join(t.TempDir(), "matrix"), func(form, sum string) error {
			if n++; first == "" {
				first, from = sum, form
			} else if sum != first {
				t.Errorf("%s: %s has other bits than %s", kernel, form, from)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n < 2 {
			t.Skipf("%d forms are installed", n)
		}
	}
}

// Each lock of the cases of locks keeps two goroutines apart, and has a figure.
func TestLocksCompete(t *testing.T) {
	rings.Needs(t, rings.Change)
	cases, err := Cases("locks-2")
	if err != nil {
		t.Fatal(err)
	}
	all, err := cases[0].Open(t.Context(), nil)
	if err != nil || len(all) < 10 {
		t.Fatalf("%d contenders: %v", len(all), err)
	}
	for _, c := range all {
		if figure, err := c.Turn(t.Context()); err != nil || figure <= 0 {
			t.Errorf("%s: %v, %v", c.Name, figure, err)
		}
	}
}

// Sections that are not apart make another number of additions. So do those of a lock that fails.
func TestCompeteChecks(t *testing.T) {
	twice := func(work func()) error { work(); work(); return nil }
	if _, err := compete([]section{twice}); !errors.Is(err, errTogether) {
		t.Errorf("the error is %v, want %v", err, errTogether)
	}
	broken := errors.New("broken")
	if _, err := compete([]section{func(func()) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want %v", err, broken)
	}
}
