package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

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
