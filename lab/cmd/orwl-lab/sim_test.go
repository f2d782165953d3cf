package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/sim/specimen"
)

var accepts = rings.Size("lab.accepts", 1, 2, 12, "TestSimAccepts: how many locks the command plays")

// TestSimAccepts gives right locks to the command. Package locks has mutants of them, which this test must reject:
// TestCommandFindsMutants.
func TestSimAccepts(t *testing.T) {
	all := lab.Locks()
	for _, l := range all[:min(len(all), accepts.N())] {
		t.Run(l.Name, func(t *testing.T) {
			if code, out, complaints := try(t, "sim", "-lock", l.Name); code != command.Done {
				t.Errorf("exit code %d %s\n%s", code, complaints, out)
			}
		})
	}
}

// TestSimFindsPlantedMistakes gives each specimen, and each lock that the conformance suite breaks, to the command as a
// user does: by its name.
func TestSimFindsPlantedMistakes(t *testing.T) {
	rings.Needs(t, rings.Night)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this takes minutes, and the ordinary run does it")
	}
	want := make(map[string]int)
	for _, s := range specimen.All() {
		if want[s.Name] = command.Done; s.Wrong {
			want[s.Name] = command.Failed
		}
	}
	for _, b := range lockstest.Broken() {
		want[b.Name] = command.Failed
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			code, out, complaints := try(t, "sim", "-lock", name)
			if code != want[name] {
				t.Errorf("exit code %d, want %d: %s\n%s", code, want[name], complaints, out)
			}
			if _, again, broken := strings.Cut(out, "broken by "); broken {
				play, _, _ := strings.Cut(again, "\n")
				t.Log(play)
			}
		})
	}
}
