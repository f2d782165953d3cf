package host

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

func TestParseCPUs(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
		list string
	}{
		{"", nil, ""},
		{"\n", nil, ""},
		{"0\n", []int{0}, "0"},
		{"0-3,8-9", []int{0, 1, 2, 3, 8, 9}, "0-3,8-9"},
		{"63-64,200", []int{63, 64, 200}, "63-64,200"},
		{"5,4,3-4", []int{3, 4, 5}, "3-5"},
		{"16383", []int{16383}, "16383"},
	} {
		set, err := parseCPUs(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got := slices.Collect(set.all); !slices.Equal(got, test.want) || set.String() != test.list {
			t.Errorf("%q is %v and prints %q, want %v and %q", test.text, got, set, test.want, test.list)
		}
	}
}

func TestParseCPUsRefuses(t *testing.T) {
	for _, text := range []string{"x", "0-", "-1", "3-2", "0,,1", "0-4294967295", "16384", "0-7:2/4", "1 2"} {
		if set, err := parseCPUs(text); err == nil {
			t.Errorf("%q gives %v, want an error", text, set)
		}
	}
}

func TestNarrow(t *testing.T) {
	set := func(text string) cpuSet {
		s, err := parseCPUs(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, test := range []struct{ set, by, want string }{
		{"0-3", "2-5", "2-3"},
		{"0-3", "", "0-3"},
		{"", "0-3", "0-3"},
		{"", "", ""},
		{"4-5", "0-1", "4-5"}, // a container has the files of another machine
		{"0,64,128", "64-200", "64,128"},
	} {
		if got := narrow(set(test.set), set(test.by)).String(); got != test.want {
			t.Errorf("%q narrowed by %q is %q, want %q", test.set, test.by, got, test.want)
		}
	}
}

func TestPinWithoutCPUs(t *testing.T) {
	unpin, err := Pin(topology.Flat(2), 1)
	if unpin != nil || !errors.Is(err, ErrNoCPU) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("Pin gives %v, want ErrNoCPU that names rank 1", err)
	}
}

func TestPinErrorMessage(t *testing.T) {
	const hint = ": widen the affinity or the cpuset of the process, unpin the rank that this goroutine pinned before," +
		" or call host.Detect again for the CPUs that are left"
	refused := errors.New("invalid argument")
	for _, test := range []struct {
		err  *PinError
		want string
	}{
		{&PinError{Rank: 3, CPU: 7, Allowed: "0-3"}, "host: rank 3 cannot be pinned to CPU 7: the thread may use only CPUs 0-3" + hint},
		{&PinError{Rank: 3, CPU: 7, Err: refused}, "host: rank 3 cannot be pinned to CPU 7: invalid argument" + hint},
	} {
		if test.err.Error() != test.want || !errors.Is(test.err, test.err.Err) && test.err.Err != nil {
			t.Errorf("%s\nwant\n%s", test.err, test.want)
		}
	}
}

func TestPinOutOfRangePanics(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		const want = "topology: CPU: rank is 6: give 0..5"
		var outside *topology.RangeError
		if !errors.As(err, &outside) || err.Error() != want {
			t.Errorf("panic with %v, want %s", err, want)
		}
	}()
	_, _ = Pin(topology.Flat(6), 6) // the tree has no CPU numbers: the range comes first
}
