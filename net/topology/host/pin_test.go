package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

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
