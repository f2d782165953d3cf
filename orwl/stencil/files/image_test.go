package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// element is any XML element, as a reader that knows nothing of package vtk sees it.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Inside  []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all are the elements of a name.
func (e element) all(name string) (found []element) {
	for _, in := range e.Inside {
		if in.XMLName.Local == name {
			found = append(found, in)
		}
		found = append(found, in.all(name)...)
	}
	return found
}

// read reads an XML file, and what stands behind the mark of raw data.
func read(t *testing.T, name, kind string) (e element, raw []byte) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if head, behind, found := bytes.Cut(text, []byte("<AppendedData encoding=\"raw\">\n_")); found {
		raw, found = bytes.CutSuffix(behind, []byte("\n</AppendedData>\n</VTKFile>\n"))
		if !found {
			t.Fatalf("%s does not end well", name)
		}
		text = append(slices.Clone(head), "</VTKFile>"...)
	}
	if err := xml.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if e.XMLName.Local != "VTKFile" || e.attr("type") != kind || e.attr("byte_order") != "LittleEndian" || e.attr("header_type") != "UInt64" {
		t.Fatalf("%s: %+v", name, e.Attrs)
	}
	return e, raw
}

// extent reads the cells of a box: x, y and z, each from and to.
func extent(t *testing.T, text string) (b [6]int) {
	t.Helper()
	words := strings.Fields(text)
	if len(words) != 6 {
		t.Fatalf("extent %q", text)
	}
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		b[i] = n
	}
	return b
}

// image reads a .pvti and its pieces as XML: the numbers of an array, in the order of the cells. Each cell is in one piece.
func image(t *testing.T, name, array string, size []int, each int) []byte {
	t.Helper()
	e, _ := read(t, name, "PImageData")
	whole := extent(t, e.all("PImageData")[0].attr("WholeExtent"))
	var cells [3]int
	for axis := range 3 {
		cells[axis] = max(1, whole[2*axis+1])
		if dim := len(size) - 1 - axis; whole[2*axis] != 0 || dim >= 0 && size[dim] != whole[2*axis+1] || dim < 0 && whole[2*axis+1] != 0 {
			t.Fatalf("%s: a whole extent of %v for %v", name, whole, size)
		}
	}
	got := make([]byte, cells[0]*cells[1]*cells[2]*each)
	seen := make([]bool, cells[0]*cells[1]*cells[2])
	for _, p := range e.all("Piece") {
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(p.attr("Source")))
		piece, raw := read(t, file, "ImageData")
		ext := extent(t, p.attr("Extent"))
		if own := extent(t, piece.all("Piece")[0].attr("Extent")); own != ext || extent(t, piece.all("ImageData")[0].attr("WholeExtent")) != ext {
			t.Fatalf("%s has extent %v, and %s says %v", file, own, name, ext)
		}
		for _, a := range piece.all("DataArray") {
			if a.attr("Name") != array {
				continue
			}
			offset, err := strconv.Atoi(a.attr("offset"))
			if err != nil {
				t.Fatal(err)
			}
			length := int(binary.LittleEndian.Uint64(raw[offset:]))
			data := raw[offset+8:][:length]
			for z := ext[4]; z < max(1, ext[5]); z++ {
				for y := ext[2]; y < max(1, ext[3]); y++ {
					for x := ext[0]; x < max(1, ext[1]); x++ {
						at := (z*cells[1]+y)*cells[0] + x
						if seen[at] {
							t.Fatalf("%s: two pieces have cell %d", name, at)
						}
						seen[at] = true
						copy(got[at*each:], data[:each])
						data = data[each:]
					}
				}
			}
			if len(data) > 0 {
				t.Fatalf("%s has %d bytes too many", file, len(data))
			}
		}
	}
	if slices.Contains(seen, false) {
		t.Fatalf("%s: a cell is in no piece", name)
	}
	return got
}

// checkSeries checks that a series has all steps, and their cells.
func checkSeries(t *testing.T, name string, size []int, sweeps, every int, each func(file string)) {
	t.Helper()
	e, _ := read(t, name, "Collection")
	var steps []int
	for _, s := range e.all("DataSet") {
		at, err := strconv.Atoi(s.attr("timestep"))
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, at)
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(s.attr("file")))
		each(file)
		if got, want := float64s(image(t, file, "u", size, 8)), cells(size, at); !slices.Equal(got, want) {
			t.Errorf("after %d sweeps: %v, want %v", at, got, want)
		}
	}
	if want := wantSteps(sweeps, every); !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
}

// A run of several lives writes the series of a run of one.
func TestSeriesOfLives(t *testing.T) {
	rings.Costly(t)
	t.Setenv("ORWL_LIVES", "1")
	o, name := shapes[1], filepath.Join(t.TempDir(), "run.pvd")
	began, sum := atomic.Int64{}, atomic.Uint64{}
	together(t, 2, func(ctx context.Context, rt *orwl.Runtime) error {
		began.Add(1)
		u, _, err := counted(rt, o, 303, func(b *stencil.Block) {
			for n := uint64(b.Sweep()); b.Number() == 0 && n < 500_000; n++ { // the other blocks wait for this one
				sum.Add(n)
			}
		})
		if err != nil {
			return err
		}
		out, err := Create(name, 20, u)
		if err != nil {
			return err
		}
		return out.Finish(ctx, rt.Run(ctx))
	})
	if began.Load() == 2 {
		t.Error("no life has ended before its run")
	}
	checkSeries(t, name, o.Size, 303, 20, func(string) {})
}

// TestImages compares an image with the cells after the run, and a series with the cells of each step, on any nodes.
func TestImages(t *testing.T) {
	for _, o := range shapes {
		t.Run(named(o), func(t *testing.T) {
			for _, nodes := range []int{1, 3} {
				name := filepath.Join(t.TempDir(), "end.pvti")
				write(t, nodes, o, 2, name, 0, true)
				write(t, nodes, o, 4, name, 0, true) // replaces it
				if got, want := float64s(image(t, name, "u", o.Size, 8)), cells(o.Size, 4); !slices.Equal(got, want) {
					t.Errorf("%d nodes: %v, want %v", nodes, got, want)
				}
				pairs := func(name string) {
					all := image(t, name, "v & w", o.Size, 4)
					if x := len(all) - 4; all[x] != byte(o.Size[0]-1) || all[x+2] != byte(o.Size[len(o.Size)-1]-1) {
						t.Errorf("%d nodes: the last pair of %s is %v", nodes, name, all[x:])
					}
				}
				pairs(name)
				for _, every := range []int{1, 3} {
					name := filepath.Join(t.TempDir(), "run.pvd")
					write(t, nodes, o, 7, name, every, every == 3)
					checkSeries(t, name, o.Size, 7, every, func(file string) {
						if every == 3 {
							pairs(file)
						}
					})
				}
			}
		})
	}
}
