package files

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// others is the report of another reader: the size as it sees it, and all numbers of two fields.
type others struct {
	Group  string
	Size   []int
	Names  []string
	Type   string
	Values []float64
	Pairs  []int
}

// byOthers runs a reader that prints JSON.
func byOthers(t *testing.T, command ...string) (o others) {
	t.Helper()
	run := exec.Command(command[0], command[1:]...)
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return o
}

// pairsOf are the numbers of the pairs that counted sets.
func pairsOf(size []int) (all []int) {
	n := 1
	for _, s := range size {
		n *= s
	}
	last := size[len(size)-1]
	for i := range n {
		all = append(all, i/(n/size[0]), i%last)
	}
	return all
}

const zarrita = `
import fs from 'node:fs/promises';
const [, library, folder] = process.argv;
const zarr = await import(library);
const store = { async get(key) { return fs.readFile(folder + key).then(b => new Uint8Array(b), () => undefined); } };
const group = await zarr.open.v3(zarr.root(store), { kind: 'group' });
const u = await zarr.open.v3(group.resolve('u'), { kind: 'array' });
const v = await zarr.open.v3(group.resolve('v & w'), { kind: 'array' });
const [values, pairs] = [await zarr.get(u), await zarr.get(v)];
const metadata = JSON.parse(await fs.readFile(folder + '/u/zarr.json', 'utf8'));
console.log(JSON.stringify({
  Group: group.kind ?? 'group', Size: values.shape, Type: u.dtype, Names: u.dimensionNames ?? metadata.dimension_names,
  Values: Array.from(values.data), Pairs: Array.from(pairs.data),
}));
`

// TestZarrita has zarrita read what three nodes have written.
func TestZarrita(t *testing.T) {
	rings.Needs(t, rings.Night)
	root, err := exec.Command("npm", "root", "-g").Output()
	library := filepath.Join(strings.TrimSpace(string(root)), "zarrita", "dist", "src", "index.js")
	if _, missing := os.Stat(library); err != nil || missing != nil {
		t.Skipf("there is no zarrita: npm install -g zarrita (%v, %v)", err, missing)
	}
	for _, o := range shapes {
		name := filepath.Join(t.TempDir(), "run.zarr")
		write(t, 3, o, 4, name, 0, true)
		got := byOthers(t, "node", "--input-type=module", "-e", zarrita, library, name)
		if !slices.Equal(got.Size, o.Size) || got.Type != "float64" || !slices.Equal(got.Names, []string{"z", "y", "x"}[3-len(o.Size):]) {
			t.Errorf("%s: it reads shape %v of %s, axes %q", named(o), got.Size, got.Type, got.Names)
		}
		if !slices.Equal(got.Values, cells(o.Size, 4)) || !slices.Equal(got.Pairs, pairsOf(o.Size)) {
			t.Errorf("%s: it reads %v and %v", named(o), got.Values, got.Pairs)
		}
	}
}

const reader = `
import json, sys
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader
r = vtkXMLPImageDataReader()
r.SetFileName(sys.argv[1])
r.Update()
d = r.GetOutput()
u, v = d.GetCellData().GetArray("u"), d.GetCellData().GetArray("v & w")
print(json.dumps({
    "Size": list(d.GetDimensions()), "Type": u.GetDataTypeAsString(), "Values": [u.GetValue(i) for i in range(u.GetNumberOfValues())],
    "Pairs": [v.GetValue(i) for i in range(v.GetNumberOfValues())],
}))
`

// TestVTK has VTK read an image of three nodes.
func TestVTK(t *testing.T) {
	rings.Needs(t, rings.Night)
	python := ""
	for _, known := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(known, "-c", "import vtkmodules.vtkIOXML").Run() == nil {
			python = known
			break
		}
	}
	if python == "" {
		t.Skip("there is no VTK for Python: apt-get install python3-vtk9")
	}
	for _, o := range shapes {
		name := filepath.Join(t.TempDir(), "end.pvti")
		write(t, 3, o, 4, name, 0, true)
		got := byOthers(t, python, "-c", reader, name)
		size := []int{1, 1, 1} // of points: x, y, z
		for axis, n := range slices.Backward(o.Size) {
			size[len(o.Size)-1-axis] = n + 1
		}
		if !slices.Equal(got.Size, size) || got.Type != "double" || !slices.Equal(got.Values, cells(o.Size, 4)) || !slices.Equal(got.Pairs, pairsOf(o.Size)) {
			t.Errorf("%s: it reads %v points of %s: %v and %v", named(o), got.Size, got.Type, got.Values, got.Pairs)
		}
	}
}
