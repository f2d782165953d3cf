package show

import (
	"flag"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
)

// shown runs a grid whose cells count the sweeps, and shows it as a command line says.
func shown(t *testing.T, size stencil.Size, sweeps int, args ...string) {
	t.Helper()
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	look := Flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := stencil.New(rt, stencil.Options{Size: size})
	u := stencil.NewField(g, "count", stencil.FieldOptions[int32]{Halo: stencil.Around(1)})
	if err := g.Sweep(sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			for i := range next {
				next[i] = old[i] + 1
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := look.Run(t.Context(), Field(u)); err != nil {
		t.Fatal(err)
	}
}

// A picture shows the result, and is a file as soon as it is complete.
func TestPicture(t *testing.T) {
	for _, size := range []stencil.Size{{30}, {20, 30}, {4, 20, 30}} {
		name := filepath.Join(t.TempDir(), "count.png")
		shown(t, size, 3, "-plot", name)
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		// All cells are equal, so they have the colour in the middle of the legend.
		middle := picture.Viridis()
		if got := p.At(p.Bounds().Dx()/3, p.Bounds().Dy()*3/4); got == color.RGBAModel.Convert(color.White) || len(middle) == 0 {
			t.Errorf("%v: the picture is empty", size)
		}
	}
}

// A film begins with the initial state, and has a frame for each sweep if there are few, and fewer if there are many. Its colours mean
// the same in all frames.
func TestFilm(t *testing.T) {
	for sweeps, frames := range map[int][2]int{5: {6, 6}, 1000: {mostFrames / 2, mostFrames + 1}} {
		if rings.Sampled() && sweeps > 5 {
			continue
		}
		name := filepath.Join(t.TempDir(), "count.gif")
		shown(t, stencil.Size{20, 30}, sweeps, "-plot", name)
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := gif.DecodeAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		n := len(all.Image)
		if n < frames[0] || n > frames[1] {
			t.Errorf("%d sweeps: %d frames, want %v", sweeps, n, frames)
		}
		at := func(frame int) color.Color {
			b := all.Image[frame].Bounds()
			return all.Image[frame].At(b.Dx()/3, b.Dy()*3/4)
		}
		if wide := all.Image[0].Bounds().Dx(); wide < 720 {
			t.Errorf("the film is %d pixels wide, want 720 or more", wide)
		}
		if at(0) == at(n/2) || at(n/2) == at(n-1) {
			t.Errorf("%d sweeps: the first, middle and last frame are %v, %v and %v", sweeps, at(0), at(n/2), at(n-1))
		}
	}
}

// A name that is neither, and a folder that is not there, fail before the run.
func TestPlotIsRefused(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	Flags(fs)
	for _, name := range []string{"plot", ".png", "a.jpg", ""} {
		if err := fs.Parse([]string{"-plot", name}); err == nil {
			t.Errorf("-plot %q is accepted", name)
		}
	}
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{4}})
	u := stencil.NewField(g, "u", stencil.FieldOptions[byte]{})
	if err := g.Sweep(1, func(*stencil.Block) { t.Error("it runs") }); err != nil {
		t.Fatal(err)
	}
	look := Look{Plot: filepath.Join(t.TempDir(), "nowhere", "a.png")}
	if err := look.Run(t.Context(), Field(u)); !os.IsNotExist(err) && err == nil {
		t.Error("a folder that is not there is accepted")
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
