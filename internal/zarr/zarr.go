package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/orwl/go-orwl/internal/outfile"
)

// The errors of this package. All others come from the system.
var (
	// ErrFormat: a file breaks the format.
	ErrFormat = errors.New("zarr: not an array of zarr version 3")
	// ErrType: the package cannot read or write such numbers, or chunks of this form.
	ErrType = errors.New("zarr: cannot read or write this array")
	// ErrSize: a size is out of range, or the bytes have another one.
	ErrSize = errors.New("zarr: array of a wrong size")
)

// Array describes an array.
type Array struct {
	Type  string   // of a number: int8 to uint64, float32, float64, complex64, complex128
	Shape []int    // the numbers along each axis; the last one varies fastest
	Chunk []int    // the same, of a chunk. The last chunk of an axis may reach beyond the array
	Names []string // of the axes; nil: none
}

// sizes maps types to the bytes of a number.
var sizes = map[string]int{
	"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
	"float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}

// mostAxes is a limit of this package.
const mostAxes = 16

// check returns how many bytes a number has, and how many a chunk.
func (a Array) check() (number, chunk int, err error) {
	number = sizes[a.Type]
	switch {
	case number == 0:
		return 0, 0, fmt.Errorf("%w: its type is %.20q: convert it, for example to float64", ErrType, a.Type)
	case len(a.Shape) == 0 || len(a.Shape) > mostAxes:
		return 0, 0, fmt.Errorf("%w: it has %d axes: want 1 to %d", ErrSize, len(a.Shape), mostAxes)
	case len(a.Chunk) != len(a.Shape):
		return 0, 0, fmt.Errorf("%w: it has %d axes, and a chunk %d", ErrSize, len(a.Shape), len(a.Chunk))
	case a.Names != nil && len(a.Names) != len(a.Shape):
		return 0, 0, fmt.Errorf("%w: it has %d axes, and %d names", ErrSize, len(a.Shape), len(a.Names))
	}
	chunk = number
	for axis, n := range a.Chunk {
		if n < 1 || a.Shape[axis] < 1 {
			return 0, 0, fmt.Errorf("%w: shape %v in chunks of %v: want 1 or more along each axis", ErrSize, a.Shape, a.Chunk)
		}
		high, low := bits.Mul(uint(chunk), uint(n))
		if chunk = int(low); high > 0 || chunk < 0 {
			return 0, 0, fmt.Errorf("%w: a chunk of %v has more bytes than can be counted", ErrSize, a.Chunk)
		}
	}
	return number, chunk, nil
}

// Chunks counts the chunks along each axis.
func (a Array) Chunks() []int {
	n := make([]int, len(a.Shape))
	for axis := range n {
		n[axis] = (a.Shape[axis] + a.Chunk[axis] - 1) / a.Chunk[axis]
	}
	return n
}

// Box is the part of the array that lies in a chunk: from low to high, without high.
func (a Array) Box(at []int) (low, high []int) {
	for axis, i := range at {
		low = append(low, i*a.Chunk[axis])
		high = append(high, min((i+1)*a.Chunk[axis], a.Shape[axis]))
	}
	return low, high
}

// keyOf is the name of a chunk's file inside the array's folder.
func keyOf(separator string, at []int) string {
	key := "c"
	for _, i := range at {
		key += separator + strconv.Itoa(i)
	}
	return filepath.FromSlash(key)
}

// metadata is a file zarr.json. The fields have the names and values of the specification.
type metadata struct {
	Format   int            `json:"zarr_format"`
	Node     string         `json:"node_type"`
	Shape    []int          `json:"shape,omitempty"`
	Type     string         `json:"data_type,omitempty"`
	Grid     *extension     `json:"chunk_grid,omitempty"`
	Keys     *extension     `json:"chunk_key_encoding,omitempty"`
	Fill     any            `json:"fill_value,omitempty"`
	Codecs   []extension    `json:"codecs,omitempty"`
	Names    []string       `json:"dimension_names,omitempty"`
	Storage  []any          `json:"storage_transformers,omitempty"`
	Comments map[string]any `json:"attributes"`
}

// extension is a name with a configuration.
type extension struct {
	Name          string        `json:"name"`
	Configuration configuration `json:"configuration"`
}

type configuration struct {
	Chunk     []int  `json:"chunk_shape,omitempty"`
	Separator string `json:"separator,omitempty"`
	Endian    string `json:"endian,omitempty"`
}

// Metadata is the file that makes a folder a group or an array.
func Metadata(folder string) string { return filepath.Join(folder, "zarr.json") }

func (m metadata) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(Metadata(folder), text)
}

func writeFile(name string, data []byte) error {
	return outfile.Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteGroup makes a folder a group of arrays.
func WriteGroup(folder string) error {
	return metadata{Format: 3, Node: "group", Comments: map[string]any{}}.write(folder)
}

// Write writes the description of an array. Chunks without a file have the value 0.
func (a Array) Write(folder string) error {
	number, _, err := a.check()
	if err != nil {
		return err
	}
	bytes := extension{Name: "bytes"}
	if number > 1 {
		bytes.Configuration.Endian = "little"
	}
	m := metadata{
		Format: 3, Node: "array", Shape: a.Shape, Type: a.Type, Codecs: []extension{bytes}, Names: a.Names, Fill: 0, Comments: map[string]any{},
		Grid: &extension{"regular", configuration{Chunk: a.Chunk}}, Keys: &extension{"default", configuration{Separator: "/"}},
	}
	if a.Type == "complex64" || a.Type == "complex128" {
		m.Fill = []int{0, 0}
	}
	return m.write(folder)
}

// WriteChunk writes the chunk at a place. data are the numbers of its [Array.Box].
func (a Array) WriteChunk(folder string, at []int, data []byte) error {
	number, size, err := a.check()
	if err != nil {
		return err
	}
	if err := a.has(at); err != nil {
		return err
	}
	low, high := a.Box(at)
	box := make([]int, len(low))
	cells := 1
	for axis := range box {
		box[axis] = high[axis] - low[axis]
		cells *= box[axis]
	}
	if len(data) != cells*number {
		return fmt.Errorf("%w: chunk %v has %d bytes: want %d", ErrSize, at, len(data), cells*number)
	}
	if len(data) < size { // the rest of the chunk lies beyond the array
		whole := make([]byte, size)
		row := box[len(box)-1] * number
		for from := 0; from < len(data); from += row {
			copy(whole[a.within(box, from/number)*number:], data[from:from+row])
		}
		data = whole
	}
	name := filepath.Join(folder, keyOf("/", at))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return writeFile(name, data)
}

func (a Array) has(at []int) error {
	chunks := a.Chunks()
	inside := len(at) == len(chunks)
	for axis, i := range at {
		inside = inside && i >= 0 && i < chunks[axis]
	}
	if !inside {
		return fmt.Errorf("%w: there is no chunk %v: the array has %v", ErrSize, at, chunks)
	}
	return nil
}

// within is the index in a chunk of a number that has an index in a box at its beginning.
func (a Array) within(box []int, index int) (in int) {
	stride := 1
	for axis := range slices.Backward(box) {
		in += index % box[axis] * stride
		index /= box[axis]
		stride *= a.Chunk[axis]
	}
	return in
}

// Reader reads an array. All goroutines may use it.
type Reader struct {
	Array
	folder    string
	separator string
	number    int // a number has so many bytes
}

// mostMetadata is the most bytes of a zarr.json that are read.
const mostMetadata = 1 << 20

// Open opens the array in a folder, and checks that all chunks are there.
func Open(folder string) (*Reader, error) {
	name := Metadata(folder)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostMetadata))
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, name)
	}
	r.folder = folder
	if err := r.checkChunks(make([]int, 0, mostAxes), r.Chunks()); err != nil {
		return nil, err
	}
	return r, nil
}

// parse reads a zarr.json.
func parse(text []byte) (*Reader, error) {
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch {
	case m.Format != 3:
		return nil, fmt.Errorf("%w: it has version %d", ErrFormat, m.Format)
	case m.Node == "group":
		return nil, fmt.Errorf("%w: it is a group: name one of its arrays", ErrType)
	case m.Node != "array" || m.Grid == nil || m.Keys == nil || len(m.Codecs) == 0:
		return nil, fmt.Errorf("%w: it describes no array", ErrFormat)
	case m.Grid.Name != "regular" || m.Keys.Name != "default" || len(m.Storage) > 0:
		return nil, fmt.Errorf("%w: want a regular chunk_grid, the default chunk_key_encoding, and no storage_transformers", ErrType)
	}
	r := &Reader{Array: Array{Type: m.Type, Shape: m.Shape, Chunk: m.Grid.Configuration.Chunk, Names: m.Names}, separator: m.Keys.Configuration.Separator}
	switch r.separator {
	case "":
		r.separator = "/"
	case "/", ".":
	default:
		return nil, fmt.Errorf("%w: the separator is %.20q", ErrFormat, r.separator)
	}
	var err error
	if r.number, _, err = r.check(); err != nil {
		return nil, err
	}
	if c := m.Codecs[0]; len(m.Codecs) > 1 || c.Name != "bytes" || r.number > 1 && c.Configuration.Endian != "little" {
		return nil, fmt.Errorf("%w: its chunks are compressed, or big-endian: save it with the codec bytes only, little-endian", ErrType)
	}
	return r, nil
}

// checkChunks checks the sizes of all chunks whose place begins so.
func (r *Reader) checkChunks(at, chunks []int) error {
	if len(at) < len(chunks) {
		for i := range chunks[len(at)] {
			if err := r.checkChunks(append(at, i), chunks); err != nil {
				return err
			}
		}
		return nil
	}
	name := filepath.Join(r.folder, keyOf(r.separator, at))
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it lacks chunk %s: write all numbers", ErrType, name)
	}
	if err != nil {
		return err
	}
	if _, size, _ := r.check(); info.Size() != int64(size) {
		return fmt.Errorf("%w: chunk %s has %d bytes: want %d", ErrSize, name, info.Size(), size)
	}
	return nil
}

// ReadRow reads numbers that are neighbours along the last axis, from a place on.
func (r *Reader) ReadRow(at []int, to []byte) error {
	last := len(r.Shape) - 1
	if len(at) != len(r.Shape) || at[last]+len(to)/r.number > r.Shape[last] {
		return fmt.Errorf("%w: it has shape %v: want no %d numbers at %v", ErrSize, r.Shape, len(to)/r.number, at)
	}
	for column := at[last]; len(to) > 0; {
		chunk, index := make([]int, len(at)), 0
		for axis, i := range at {
			if axis == last {
				i = column
			}
			if i < 0 || i >= r.Shape[axis] {
				return fmt.Errorf("%w: it has shape %v: there is no number at %v", ErrSize, r.Shape, at)
			}
			chunk[axis] = i / r.Chunk[axis]
			index = index*r.Chunk[axis] + i%r.Chunk[axis]
		}
		cells := min(len(to)/r.number, r.Chunk[last]-column%r.Chunk[last])
		if err := readAt(filepath.Join(r.folder, keyOf(r.separator, chunk)), to[:cells*r.number], int64(index)*int64(r.number)); err != nil {
			return err
		}
		to, column = to[cells*r.number:], column+cells
	}
	return nil
}

func readAt(name string, to []byte, at int64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(to, at)
	return err
}
