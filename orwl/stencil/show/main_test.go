package show

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/files"
)

// A program of Main sweeps as often as the flags say, compares, and writes its field. A kernel that depends on the order
// of the blocks is found by -verify, and by nothing without it.
func TestRun(t *testing.T) {
	data := filepath.Join(t.TempDir(), "count.npy")
	for _, c := range []struct {
		args  []string
		right bool // the kernel is
		want  int32
		fails bool
	}{
		{args: []string{"-data", data}, right: true, want: 6},
		{args: []string{"-data", data, "-sweeps", "4", "-verify"}, right: true, want: 4},
		{args: []string{"-data", data, "-sweeps", "0"}, right: true, want: 0},
		{args: []string{"-data", data}, want: 7},
		{args: []string{"-data", data, "-verify"}, fails: true},
	} {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		f := newRunFlags(fs)
		if err := fs.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		runs := 0
		err := f.run(t.Context(), orwl.Options{}, func(ctx context.Context, r *Run) error {
			g := r.Grid(stencil.Options{Size: stencil.Size{1, 30}, Blocks: stencil.Size{1, 1}})
			u := stencil.NewField(g, "count", stencil.FieldOptions[int32]{})
			return r.Sweep(ctx, 6, func(b *stencil.Block) {
				for row := range b.Rows() {
					old, next := u.Old(row), u.New(row)
					for i := range next {
						next[i] = old[i] + 1
					}
					if runs++; !c.right && runs == 1 { // Verify calls the kernel again
						next[0]++
					}
				}
			}, Field(u))
		})
		if c.fails != (err != nil) {
			t.Errorf("%q: %v", c.args, err)
		}
		if c.fails {
			continue
		}
		in, err := files.Open[int32](data)
		if err != nil {
			t.Fatal(err)
		}
		cell := make([]int32, 1)
		if in.Row([]int{0, 0}, cell); cell[0] != c.want {
			t.Errorf("%q: it counts %d sweeps, want %d", c.args, cell[0], c.want)
		}
	}
}

// A grid with stages has no kernel. A run without a grid, and a name that is no file's, are mistakes.
func TestRunWithStages(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	f := newRunFlags(fs)
	swept := 0
	err := f.run(t.Context(), orwl.Options{}, func(ctx context.Context, r *Run) error {
		if err := r.Sweep(ctx, 3, nil); !errors.Is(err, errNoGrid) {
			t.Errorf("%v, want %v", err, errNoGrid)
		}
		g := r.Grid(stencil.Options{Size: stencil.Size{8}, Blocks: stencil.Size{1}})
		u := stencil.NewField(g, "u", stencil.FieldOptions[int32]{})
		g.Stage(func(*stencil.Block) { swept++ }, u)
		if !r.Prints() {
			t.Error("the only node does not print")
		}
		return r.Sweep(ctx, 3, nil, Field(u))
	})
	if err != nil || swept != 3 {
		t.Errorf("%d sweeps: %v", swept, err)
	}
	fs.SetOutput(devNull(t))
	if err := fs.Parse([]string{"-data", "u.txt"}); err == nil {
		t.Error("u.txt is accepted")
	}
}

func devNull(t *testing.T) *os.File {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
