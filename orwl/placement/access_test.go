package placement

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestGraphOf(t *testing.T) {
	const write = true
	for _, c := range []struct {
		name     string
		accesses []Access
		want     []Edge
	}{
		{"a star of readers", []Access{{1, 0, write}, {0, 0, false}, {2, 0, false}, {3, 0, false}},
			[]Edge{{1, 0, 100}, {1, 2, 100}, {1, 3, 100}}},
		{"each reads from the writer before it", []Access{{0, 0, write}, {1, 0, false}, {2, 0, write}, {3, 0, false}},
			[]Edge{{2, 0, 100}, {0, 1, 100}, {0, 2, 100}, {2, 3, 100}}},
		{"who reads first reads what was written last", []Access{{2, 0, write}, {1, 0, write}, {0, 0, false}},
			[]Edge{{2, 0, 100}, {2, 1, 100}, {1, 2, 100}}},
		{"a task hands nothing to itself", []Access{{0, 0, write}, {0, 0, false}}, nil},
		{"what nobody writes does not travel again", []Access{{0, 0, false}, {1, 0, false}}, nil},
		{"sizes count", []Access{{0, 1, write}, {1, 1, false}}, []Edge{{0, 1, 900}}},
	} {
		g, err := GraphOf(4, c.accesses, []int{100, 900})
		for i := range c.want {
			c.want[i].Weight += HandOverWeight
		}
		if err != nil || g.Tasks != 4 || !slices.Equal(g.Edges, c.want) {
			t.Errorf("%s: %v %+v, want edges %v", c.name, err, g, c.want)
		}
	}
}

// Thousands of readers make an edge each, and not one with each other.
func TestGraphOfManyReaders(t *testing.T) {
	accesses := []Access{{Write: true}}
	for v := 1; v < 5000; v++ {
		accesses = append(accesses, Access{Task: v})
	}
	if g, err := GraphOf(5000, accesses, []int{8}); err != nil || len(g.Edges) != 4999 {
		t.Errorf("%v, %d edges", err, len(g.Edges))
	}
}

func TestAccessesAreChecked(t *testing.T) {
	graph := func(a Access, size int) error {
		_, err := GraphOf(2, []Access{{}, a}, []int{size})
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{graph(Access{Task: 2}, 8), "access 1 is by task 2: number tasks from 0 to 1"},
		{graph(Access{Task: -1}, 8), "access 1 is by task -1"},
		{graph(Access{Resource: 1}, 8), "access 1 is to resource 1: number resources from 0 to 0"},
		{graph(Access{Resource: -1}, 8), "access 1 is to resource -1"},
		{graph(Access{}, -8), "resource 0 has size -8: give 0 or more bytes"},
	} {
		var typed *Error
		if !errors.As(c.err, &typed) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v: want %q", c.err, c.want)
		}
	}
}
