package main

import "testing"

// Nodes of one machine share its CPUs. Those on others, and those without numbers, have their own.
func TestProcessors(t *testing.T) {
	for name, c := range map[string]struct {
		all  []hardware
		want int
	}{
		"one node":                     {[]hardware{{Most: 2, CPUs: []int{0, 1}}}, 2},
		"one of few":                   {[]hardware{{Most: 1, Machine: "a", CPUs: []int{0, 1}}}, 1},
		"two nodes, same CPUs":         {[]hardware{{2, "a", []int{0, 1}}, {2, "a", []int{0, 1}}}, 2},
		"two nodes, CPUs of their own": {[]hardware{{2, "a", []int{0, 1}}, {2, "a", []int{2, 3}}}, 4},
		"CPUs in part the same":        {[]hardware{{2, "a", []int{0, 1}}, {2, "a", []int{1, 2}}}, 3},
		"one thread for each node":     {[]hardware{{1, "a", []int{0, 1, 2}}, {1, "a", []int{0, 1, 2}}}, 2},
		"two machines":                 {[]hardware{{2, "a", []int{0, 1}}, {2, "b", []int{0, 1}}}, 4},
		"no shared memory":             {[]hardware{{2, "", []int{0, 1}}, {2, "", []int{0, 1}}}, 4},
		"no numbers":                   {[]hardware{{Most: 2, Machine: "a"}, {Most: 2, Machine: "a"}}, 4},
	} {
		if got := processors(c.all); got != c.want {
			t.Errorf("%s: %d processors, want %d", name, got, c.want)
		}
	}
}
