package stencil

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A full disk ends no run. Checkpoints that it could not take are given up, and the others can be continued.
func TestFullDisk(t *testing.T) {
	for name, full := range map[string][]int{"once": {2}, "at the end": {3, 4}, "always": {1, 2, 3, 4}} {
		t.Run(name, func(t *testing.T) {
			o := Options{Blocks: Size{2, 2}, Checkpoint: Checkpoint{Dir: t.TempDir(), Every: 1}}
			g, rt, err := life(t, o, 4)
			if err != nil {
				t.Fatal(err)
			}
			for _, sweeps := range full {
				e := entry{grid: "grid", sweeps: sweeps, of: 1}
				if err := os.Symlink("/dev/full", filepath.Join(o.Checkpoint.Dir, e.part())); err != nil {
					t.Fatal(err)
				}
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := g.Verify(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := g.Checkpoints()
			if got.Failed == 0 || got.Failed+got.Late < len(full) || !errors.Is(got.Err, syscall.ENOSPC) {
				t.Errorf("%+v", got)
			}
			if got.Saved+got.Late+got.Failed != 4 {
				t.Errorf("%+v, want 4 in sum", got)
			}
			o.Resume = o.Checkpoint.Dir
			if again := live(t, o, 6).Checkpoints(); again.Resumed != got.Newest {
				t.Errorf("continues after %d sweeps, want %d", again.Resumed, got.Newest)
			}
		})
	}
}
