package main

import (
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

func TestFairRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"fair", "-case", "none"}, {"fair", "-repeats", "0"}, {"fair", "-llk23", "/no/such/program"},
		{"fair", "-llk23", "true", "-case", "cg", "-poisson", "/no/such/program"},
		{"fair", "-llk23", "true", "-case", "cube", "-beside", "fair_test.go"},
	} {
		if code, _, complaints := try(t, args...); code != command.Misused || complaints == "" {
			t.Errorf("%v: exit code %d, complains %q, want %d and a complaint", args, code, complaints, command.Misused)
		}
	}
}
