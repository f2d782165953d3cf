package main

import "testing"

// Nodes of one machine share its CPUs. Those on others, and those without numbers, have their own.
func TestProcessors(t *testing.T) {
	for name, c := range map[string]struct {
		seats []seat
		want  int
	}{
		"one node":                     {[]seat{{Most: 2, CPUs: []int{0, 1}}}, 2},
		"one of few":                   {[]seat{{Most: 1, Machine: "a", CPUs: []int{0, 1}}}, 1},
		"two nodes, same CPUs":         {[]seat{{2, "a", []int{0, 1}}, {2, "a", []int{0, 1}}}, 2},
		"two nodes, CPUs of their own": {[]seat{{2, "a", []int{0, 1}}, {2, "a", []int{2, 3}}}, 4},
		"CPUs in part the same":        {[]seat{{2, "a", []int{0, 1}}, {2, "a", []int{1, 2}}}, 3},
		"one thread for each node":     {[]seat{{1, "a", []int{0, 1, 2}}, {1, "a", []int{0, 1, 2}}}, 2},
		"two machines":                 {[]seat{{2, "a", []int{0, 1}}, {2, "b", []int{0, 1}}}, 4},
		"no shared memory":             {[]seat{{2, "", []int{0, 1}}, {2, "", []int{0, 1}}}, 4},
		"no numbers":                   {[]seat{{Most: 2, Machine: "a"}, {Most: 2, Machine: "a"}}, 4},
	} {
		if got := processors(c.seats); got != c.want {
			t.Errorf("%s: %d processors, want %d", name, got, c.want)
		}
	}
}
