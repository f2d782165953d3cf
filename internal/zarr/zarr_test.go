package zarr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWriteAndRead writes chunks and reads rows, for any shape and chunks. The last chunks reach beyond the array.
func TestWriteAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.IntRange(1, 4).Draw(t, "axes")
		a := Array{Type: "int32", Names: []string{"a", "b", "c", "d"}[:axes]}
		cells := 1
		for range axes {
			n := rapid.IntRange(1, 7).Draw(t, "length")
			a.Shape = append(a.Shape, n)
			a.Chunk = append(a.Chunk, rapid.IntRange(1, 9).Draw(t, "chunk"))
			cells *= n
		}
		folder, err := os.MkdirTemp("", "zarr")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		index := func(at []int) (i int) {
			for axis, n := range at {
				i = i*a.Shape[axis] + n
			}
			return i
		}
		each(make([]int, axes), a.Chunks(), func(at []int) {
			low, high := a.Box(at)
			var data []byte
			each(low, high, func(cell []int) { data = binary.LittleEndian.AppendUint32(data, uint32(index(cell))) })
			if err := a.WriteChunk(folder, at, data); err != nil {
				t.Fatal(err)
			}
		})
		if err := a.Write(folder); err != nil {
			t.Fatal(err)
		}
		r, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Shape, a.Shape) || !slices.Equal(r.Chunk, a.Chunk) || !slices.Equal(r.Names, a.Names) || r.Type != a.Type {
			t.Fatalf("%+v, want %+v", r.Array, a)
		}
		last := axes - 1
		rows := slices.Clone(a.Shape)
		rows[last] = 1
		each(make([]int, axes), rows, func(at []int) {
			at = slices.Clone(at)
			at[last] = rapid.IntRange(0, a.Shape[last]-1).Draw(t, "from")
			row := make([]byte, 4*(a.Shape[last]-at[last]))
			if err := r.ReadRow(at, row); err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(row); i += 4 {
				if got, want := int(binary.LittleEndian.Uint32(row[i:])), index(at)+i/4; got != want {
					t.Fatalf("%+v: %d at %v + %d, want %d", a, got, at, i/4, want)
				}
			}
		})
	})
}

// each calls body for each place from low to high, without high.
func each(low, high []int, body func(at []int)) {
	at := slices.Clone(low)
	for {
		body(at)
		axis := len(at) - 1
		for ; axis >= 0; axis-- {
			if at[axis]++; at[axis] < high[axis] {
				break
			}
			at[axis] = low[axis]
		}
		if axis < 0 {
			return
		}
	}
}

// TestFiles compares the files of an array with the specification, to the byte. The second chunk ends beyond the array.
func TestFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "u")
	a := Array{Type: "uint16", Shape: []int{3}, Chunk: []int{2}, Names: []string{"x"}}
	for i, data := range []string{"\x01\x00\x02\x00", "\x03\x01"} {
		if err := a.WriteChunk(folder, []int{i}, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(a.Write(folder), WriteGroup(filepath.Dir(folder))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"c/0":          "\x01\x00\x02\x00",
		"c/1":          "\x03\x01\x00\x00",
		"../zarr.json": `{"zarr_format":3,"node_type":"group","attributes":{}}`,
		"zarr.json": `{"zarr_format":3,"node_type":"array","shape":[3],"data_type":"uint16",
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
			"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},
			"fill_value":0,"codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"dimension_names":["x"],"attributes":{}}`,
	} {
		got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") {
			got, want = []byte(strings.Join(strings.Fields(string(got)), "")), strings.Join(strings.Fields(want), "")
		}
		if string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Each wrong array has an error of its kind. Nothing is read of it.
func TestRefused(t *testing.T) {
	good := Array{Type: "float64", Shape: []int{4}, Chunk: []int{2}}
	for want, arrays := range map[error][]Array{
		ErrType: {{Type: "string", Shape: []int{1}, Chunk: []int{1}}},
		ErrSize: {
			{Type: "int8"}, {Type: "int8", Shape: make([]int, 99), Chunk: make([]int, 99)}, {Type: "int8", Shape: []int{1}},
			{Type: "int8", Shape: []int{0}, Chunk: []int{1}}, {Type: "int8", Shape: []int{1}, Chunk: []int{0}},
			{Type: "int8", Shape: []int{1}, Chunk: []int{1}, Names: []string{"x", "y"}},
			{Type: "int8", Shape: []int{1, 1}, Chunk: []int{1 << 62, 1 << 62}},
		},
	} {
		for _, a := range arrays {
			if err := a.Write(t.TempDir()); !errors.Is(err, want) {
				t.Errorf("%+v: %v, want %v", a, err, want)
			}
		}
	}
	for _, at := range [][]int{{2}, {-1}, {0, 0}} {
		if err := good.WriteChunk(t.TempDir(), at, make([]byte, 16)); !errors.Is(err, ErrSize) {
			t.Errorf("chunk %v: %v", at, err)
		}
	}
	if err := good.WriteChunk(t.TempDir(), []int{0}, make([]byte, 15)); !errors.Is(err, ErrSize) {
		t.Errorf("15 bytes: %v", err)
	}
	folder := t.TempDir()
	if err := good.Write(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(Metadata(folder))
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]error{
		{`"zarr_format": 3`, `"zarr_format": 2`}: ErrFormat, {`"node_type": "array"`, `"node_type": "group"`}: ErrType,
		{`"node_type": "array"`, `"node_type": "x"`}: ErrFormat, {`"regular"`, `"rectilinear"`}: ErrType, {`"default"`, `"v2"`}: ErrType,
		{`"/"`, `"x"`}: ErrFormat, {`"little"`, `"big"`}: ErrType, {`"bytes"`, `"zstd"`}: ErrType, {`{`, `[`}: ErrFormat, {`float64`, `r8`}: ErrType,
	} {
		if !bytes.Contains(text, []byte(change[0])) {
			t.Fatalf("there is no %s in %s", change[0], text)
		}
		if _, err := parse(bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", change, err, want)
		}
	}
	if _, err := Open(folder); !errors.Is(err, ErrType) { // there is no chunk
		t.Errorf("without chunks: %v", err)
	}
	for i := range 2 {
		if err := good.WriteChunk(folder, []int{i}, make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range map[int]int{-1: 8, 4: 8, 3: 16, 0: 40} {
		if err := r.ReadRow([]int{at}, make([]byte, n)); !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes at %d: %v", n, at, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "c", "1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder); !errors.Is(err, ErrSize) {
		t.Errorf("a short chunk: %v", err)
	}
}

// FuzzParse takes any text for a zarr.json.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"zarr_format":3,"node_type":"array","shape":[3],"data_type":"uint16","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
		"chunk_key_encoding":{"name":"default"},"fill_value":0,"codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		if _, chunk, err := r.check(); err != nil || chunk < 1 {
			t.Errorf("a chunk of %d bytes: %v", chunk, err)
		}
	})
}
