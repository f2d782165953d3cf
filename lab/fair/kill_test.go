package fair

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/internal/rings"
)

// The lines that serve recovery are those of the functions and of main, without comments.
func TestRecoveryLines(t *testing.T) {
	lines, err := recoveryLines(killSource)
	if err != nil || lines < 40 || lines > 80 {
		t.Errorf("%d lines, %v: want 40 to 80", lines, err)
	}
	if lines, err := recoveryLines("c/llk23_mpi.c"); err != nil || lines != 0 {
		t.Errorf("a peer without recovery: %d lines, %v, want 0", lines, err)
	}
}

// A page tells the sweep that all tasks have ended, once the node has as many blocks as are asked for.
func TestPageTellsSweeps(t *testing.T) {
	var p page
	p.Tasks = append(p.Tasks, struct {
		Round int `json:"round"`
	}{7}, struct {
		Round int `json:"round"`
	}{6})
	if got := p.swept(2, 10); got != -1 {
		t.Errorf("a page without a grid: sweep %d, want -1", got)
	}
	p.Grids = append(p.Grids, struct {
		Total int `json:"total"`
	}{20})
	for blocks, want := range map[int]int{2: 6, 4: -1} {
		if got := p.swept(blocks, 10); got != want {
			t.Errorf("%d blocks: sweep %d, want %d", blocks, got, want)
		}
	}
}

// TestKilled kills one process of ours, and one of the peer. Both have the same bits in the end.
func TestKilled(t *testing.T) {
	rings.Needs(t, rings.Change)
	llk23 := filepath.Join(t.TempDir(), "llk23")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", llk23, "./apps/llk23")
	build.Dir = "../.." // lab is another module
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	s := NewShop(llk23, "")
	defer s.Close()
	l := &loss{matrix: matrix{400, 500, 8, 1, 3000}, every: 50, early: 100, late: 200}
	all, err := l.open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		seconds, err := c.Turn(t.Context())
		if errors.Is(err, native.ErrMissing) {
			t.Skip(err)
		}
		if err != nil || seconds <= 0 {
			t.Fatalf("%s: %v seconds, %v", c.Name, seconds, err)
		}
	}
	if notes := strings.Join(l.notes(), "\n"); strings.Count(notes, "sweeps done again") != len(all) {
		t.Errorf("the notes are %s, want a line for each of %d contenders", notes, len(all))
	}
}
