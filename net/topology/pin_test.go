package topology

import (
	"errors"
	"strings"
	"testing"
)

func TestPinWithoutCPUs(t *testing.T) {
	unpin, err := Flat(2).Pin(1)
	if unpin != nil || !errors.Is(err, ErrNoCPU) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("Pin gives %v, want ErrNoCPU that names rank 1", err)
	}
}

func TestPinErrorMessage(t *testing.T) {
	const hint = ": give the process a wider affinity or cpuset, unpin a rank that this goroutine pinned before," +
		" or call Detect again for a tree of the CPUs that are left"
	refused := errors.New("invalid argument")
	for _, test := range []struct {
		err  *PinError
		want string
	}{
		{&PinError{Rank: 3, CPU: 7, Allowed: "0-3"}, "topology: rank 3 cannot be pinned to CPU 7: the thread may use only CPUs 0-3" + hint},
		{&PinError{Rank: 3, CPU: 7, Err: refused}, "topology: rank 3 cannot be pinned to CPU 7: invalid argument" + hint},
	} {
		if test.err.Error() != test.want || !errors.Is(test.err, test.err.Err) && test.err.Err != nil {
			t.Errorf("%s\nwant\n%s", test.err, test.want)
		}
	}
}
