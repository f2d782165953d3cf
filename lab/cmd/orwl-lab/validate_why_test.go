package main

import (
	"strings"
	"testing"
)

// The reason for a prediction that is far off is the part that makes it near once it is right.
func TestWhy(t *testing.T) {
	measured := parts{Free: 30, Contended: .1, HandOver: 400} // 70 ns
	for _, c := range []struct {
		what      string
		predicted parts
		want      []string
	}{
		{"own instructions", parts{10, .1, 400}, []string{"own instructions (free: 10 ns for 30)"}},
		{"meets", parts{25, .02, 500}, []string{"how often ranks meet (contended: 2.0 % for 10.0)"}},
		{"hand-over", parts{25, .1, 100}, []string{"what a hand-over takes (100 ns for 400)"}},
		{"two", parts{30, .02, 100}, []string{"how often ranks meet", "what a hand-over takes"}},
		{"all", parts{5, .01, 10}, []string{"own instructions", "how often ranks meet", "what a hand-over takes"}},
	} {
		got := why(measured, c.predicted)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", c.what, got, want)
			}
		}
		if n := strings.Count(got, ", and "); n != len(c.want)-1 {
			t.Errorf("%s: %q has %d reasons, want %d", c.what, got, n+1, len(c.want))
		}
	}
	if p := partsOf(70, 30, .1); p != measured {
		t.Errorf("the parts are %+v", p)
	}
}
