package topology

import (
	"slices"
	"testing"
)

func TestFromCPUs(t *testing.T) {
	for _, test := range []struct {
		name string
		cpus []CPU
		want string
		on   []int // the CPUs in the order of ranks
	}{
		{"one CPU", []CPU{{Number: 7}}, "core:1", []int{7}},
		{"one core, two threads", []CPU{{Number: 5}, {Number: 4}}, "thread:2", []int{4, 5}},
		{"only cores known", []CPU{{1, -1, -1, -1, 1}, {0, -1, -1, -1, 0}}, "core:2", []int{0, 1}},
		{"sockets and cores", []CPU{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {2, 0, 0, 0, 2}, {3, 1, 1, 1, 3}},
			"socket:2 core:2", []int{0, 2, 1, 3}},
		{"every level", []CPU{
			{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 0, 0, 0, 1}, {3, 0, 0, 1, 2}, {4, 0, 1, 2, 3}, {5, 1, 2, 3, 4},
		}, "socket:2 numa:2+1 cache:2+1*2 core:2+1*3 thread:2+1*4", []int{0, 1, 2, 3, 4, 5}},
		{"memory nodes inside one cache", []CPU{{0, 0, 0, 9, 0}, {1, 0, 0, 9, 1}, {2, 0, 1, 9, 2}, {3, 0, 1, 9, 3}},
			"numa:2 core:2", []int{0, 1, 2, 3}},
		{"one memory node over two sockets", []CPU{{0, 0, 0, 0, 0}, {1, 0, 0, 0, 1}, {2, 1, 0, 1, 2}, {3, 1, 0, 1, 3}},
			"socket:2 core:2", []int{0, 1, 2, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := slices.Clone(test.cpus)
			slices.Reverse(given)
			before := slices.Clone(given)
			tree := FromCPUs(given)
			if tree.String() != test.want || !slices.Equal(tree.cpus, test.on) {
				t.Errorf("%s on CPUs %v, want %s on %v", tree, tree.cpus, test.want, test.on)
			}
			checkInvariants(t, tree)
			if !slices.Equal(given, before) {
				t.Errorf("the argument is %v now, want %v as before", given, before)
			}
		})
	}
}
