package locks_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
)

// refused makes a lock with bad options and returns the option that the error names.
func refused(t *testing.T, spec locks.Spec, f rma.Fabric, o locks.Options) string {
	t.Helper()
	_, err := spec.New(f, o)
	var refusal *locks.OptionError
	if !errors.As(err, &refusal) {
		t.Errorf("%s with %+v: the error is %v, want a *locks.OptionError", spec.Name, o, err)
		return ""
	}
	if refusal.Lock != spec.Name || refusal.Want == "" || !strings.Contains(err.Error(), refusal.Option) {
		t.Errorf("%s with %+v: %q does not name the lock, the option and its allowed values", spec.Name, o, err)
	}
	return refusal.Option
}

// fabricOf makes a fabric whose ranks are in this process, with the default memory.
func fabricOf(t *testing.T, text string) rma.Fabric {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: machine(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// given are options with one field set. Each is a field that some locks do not have.
var given = map[string]locks.Options{
	"RemoteBackoff": {RemoteBackoff: locks.Backoff{Min: 1, Max: 2}},
	"Backoff":       {Backoff: locks.Backoff{Min: 1, Max: 2}},
	"TL":            {TL: []int{1, 1}},
	"TDC":           {TDC: 1},
	"TR":            {TR: 1},
	"TW":            {TW: 1 << 20},
	"StepBack":      {StepBack: true},
	"Count":         {Count: locks.CountGlobal},
	"Batch":         {Batch: 1},
	"Patience":      {Patience: 1},
	"High":          {High: 1},
	"Hysteresis":    {Hysteresis: 1},
	"OwnNode":       {OwnNode: true},
}

// Every lock accepts the options that its row names, and refuses the others. A lock that
// ignored an option would break a promise.
func TestOptionsHeeded(t *testing.T) {
	for _, spec := range locks.All() {
		for _, name := range spec.Options {
			if _, known := given[name]; !known {
				t.Errorf("%s: its row names an option %q that does not exist", spec.Name, name)
			}
		}
		for name, o := range given {
			f := fabricOf(t, "node:2 core:2")
			if slices.Contains(spec.Options, name) {
				if _, err := spec.New(f, o); err != nil {
					t.Errorf("%s with %+v: %v", spec.Name, o, err)
				}
			} else if got := refused(t, spec, f, o); got != name {
				t.Errorf("%s with %+v complains about %q, want %q", spec.Name, o, got, name)
			}
		}
	}
}

// Every field that is out of range is refused by its name. No field is clamped.
func TestOptionsRange(t *testing.T) {
	for _, c := range []struct {
		option string
		o      locks.Options
	}{
		{"Home", locks.Options{Home: -1}},
		{"Home", locks.Options{Home: 4}},
		{"Backoff", locks.Options{Backoff: locks.Backoff{Min: -1, Max: 2}}},
		{"Backoff", locks.Options{Backoff: locks.Backoff{Min: 3, Max: 2}}},
		{"RemoteBackoff", locks.Options{RemoteBackoff: locks.Backoff{Min: -1, Max: 2}}},
		{"RemoteBackoff", locks.Options{RemoteBackoff: locks.Backoff{Min: 3, Max: 2}}},
		{"Count", locks.Options{Count: 4}},
		{"TL", locks.Options{TL: []int{1, 1, 1}}},
		{"TL", locks.Options{TL: []int{1, 0}}},
		{"TL", locks.Options{TL: []int{-1}}},
		{"TL", locks.Options{TL: []int{1, 1<<28 + 1}}},
		{"Batch", locks.Options{Batch: -1}},
		{"Batch", locks.Options{Batch: 1 << 20}},
		{"Patience", locks.Options{Patience: -1}},
		{"Patience", locks.Options{Patience: 1<<28 + 1}},
		{"High", locks.Options{High: -1}},
		{"High", locks.Options{High: 1<<28 + 1}},
		{"Hysteresis", locks.Options{Hysteresis: -1}},
		{"Hysteresis", locks.Options{Hysteresis: 8}},
		{"TDC", locks.Options{TDC: -1}},
		{"TR", locks.Options{TR: -1}},
		{"TR", locks.Options{TR: 1<<28 + 1}},
		{"TW", locks.Options{TW: -1}},
		{"TW", locks.Options{TW: 1<<28 + 1}},
		{"TW", locks.Options{TL: []int{1, 3}, TW: 2}}, // less than T_L,2
	} {
		tried := false
		for _, spec := range locks.All() {
			if c.option != "Home" && !slices.Contains(spec.Options, c.option) || c.o.TL != nil && !slices.Contains(spec.Options, "TL") {
				continue
			}
			tried = true
			if got := refused(t, spec, fabricOf(t, "node:2 core:2"), c.o); got != c.option {
				t.Errorf("%s with %+v complains about %q, want %q", spec.Name, c.o, got, c.option)
			}
		}
		if !tried {
			t.Errorf("no lock has the options %+v", c.o)
		}
	}
}

// New refuses a fabric with too little memory and a closed fabric. NewSet refuses a set of
// no locks. A Spec that is no row of the table makes none.
func TestNewRefused(t *testing.T) {
	for _, spec := range locks.All() {
		small, err := mem.New(mem.Options{Topology: machine(t, "core:2"), Words: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spec.New(small, locks.Options{}); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("%s on a fabric of one word: %v, want %v", spec.Name, err, rma.ErrNoSpace)
		}
		if _, err := spec.NewSet(small, 0, locks.Options{}); err == nil {
			t.Errorf("%s: NewSet makes a set of no locks", spec.Name)
		}
		small.Close()
		if _, err := spec.New(small, locks.Options{}); !errors.Is(err, rma.ErrClosed) {
			t.Errorf("%s on a closed fabric: %v, want %v", spec.Name, err, rma.ErrClosed)
		}
	}
	f, err := mem.New(mem.Options{Topology: machine(t, "core:2")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := (locks.Spec{Name: "mine"}).New(f, locks.Options{}); err == nil || !strings.Contains(err.Error(), `"mine" is no row`) {
		t.Errorf("a Spec that is no row: %v", err)
	}
}

// A rank gets the same side of a lock from each call of At. The side is of the kind
// that the row names. Errors show the name that the options give to the lock.
func TestAt(t *testing.T) {
	for _, spec := range locks.All() {
		f := fabricOf(t, "node:2 core:2")
		l, err := spec.New(f, locks.Options{Name: "a lock"})
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Window(1)
		if err != nil {
			t.Fatal(err)
		}
		m := l.At(w)
		if m != l.At(w) {
			t.Errorf("%s: the second call of At returns another side", spec.Name)
		}
		if _, ok := m.(locks.RWMutex); ok != (spec.Kind == locks.ReaderWriter) {
			t.Errorf("%s: its kind is %v, and %T is an RWMutex: %v", spec.Name, spec.Kind, m, ok)
		}
		if _, ok := m.(locks.PriorityMutex); ok != (spec.Kind == locks.Priority) {
			t.Errorf("%s: its kind is %v, and %T is a PriorityMutex: %v", spec.Name, spec.Kind, m, ok)
		}
		if _, ok := m.(locks.Counter); !ok {
			t.Errorf("%s: %T does not count", spec.Name, m)
		}
		if l.Spec().Name != spec.Name {
			t.Errorf("%s: Spec says %q", spec.Name, l.Spec().Name)
		}
		func() {
			defer func() {
				if misuse, ok := recover().(*locks.MisuseError); !ok || misuse.Lock != "a lock" || misuse.Rank != 1 {
					t.Errorf("%s: releasing a free lock panics with %v, want a *locks.MisuseError of \"a lock\" and rank 1", spec.Name, misuse)
				}
			}()
			m.Release()
		}()
	}
}

// Every row describes its lock completely. Names are unique, and ByName finds each row.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, spec := range locks.All() {
		if seen[spec.Name] {
			t.Errorf("two rows have the name %s", spec.Name)
		}
		seen[spec.Name] = true
		if spec.Name == "" || spec.Paper == "" || spec.About == "" || spec.Fairness == "" || spec.Words == nil {
			t.Errorf("%s: the row has a gap: %+v", spec.Name, spec)
		}
		if spec.Cost.Uncontended == (locks.Operations{}) || spec.Cost.Contended == (locks.Operations{}) {
			t.Errorf("%s: the row does not say what it costs", spec.Name)
		}
		if found, ok := locks.ByName(spec.Name); !ok || found.Name != spec.Name {
			t.Errorf("ByName(%q) finds %q, %v", spec.Name, found.Name, ok)
		}
	}
	if _, ok := locks.ByName("no such lock"); ok {
		t.Error("ByName finds a lock that does not exist")
	}
}
