package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/orwl/go-orwl/internal/npy"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/internal/zarr"
)

// In is an array of a file.
type In[T any] struct {
	name string
	size []int
	each int // bytes of a cell
	read func(at []int, to []byte) error
}

// Open opens a .npy file, or the folder of an array of zarr, whose elements are of type T. The file must stay as it is until
// the end of the run.
func Open[T any](name string) (*In[T], error) {
	t := reflect.TypeFor[T]()
	k, err := kindOf(t)
	if err != nil {
		return nil, err
	}
	in := &In[T]{name: name, each: int(t.Size())}
	var has, want string
	if filepath.Ext(name) == ".npy" {
		has, err = in.openNPY()
		want = k.npy
	} else {
		has, err = in.openZarr(len(k.count))
		want = k.zarr
	}
	if err != nil {
		return nil, fmt.Errorf("files: %w: %s", err, name)
	}
	cells := len(in.size) - len(k.count)
	if has != want || cells < 1 || cells > 3 || !slices.Equal(in.size[cells:], k.count) {
		return nil, fmt.Errorf("files: %s has elements of type %s and the shape %v: want %s for cells of type %v, in 1 to 3 dimensions", name, has, in.size, want, t)
	}
	in.size = in.size[:cells]
	return in, nil
}

// Size is the shape of the array, for stencil.Options.Size.
func (in *In[T]) Size() []int { return slices.Clone(in.size) }

// Row is for stencil.FieldOptions.InitialRow. Cells beyond the array are zero. Row panics if the file can be read no
// longer: Open has found its parts whole.
func (in *In[T]) Row(at []int, row []T) {
	clear(row)
	last := len(in.size) - 1
	for i, n := range in.size[:last] {
		if at[i] < 0 || at[i] >= n {
			return
		}
	}
	begin, end := max(0, at[last]), min(at[last]+len(row), in.size[last])
	if begin >= end {
		return
	}
	from := append(slices.Clone(at[:last]), begin)
	if err := in.read(from, typed.Bytes(row[begin-at[last]:end-at[last]])); err != nil {
		panic(fmt.Sprintf("files: initial values: %v", err))
	}
}

// openNPY returns the type of a number.
func (in *In[T]) openNPY() (string, error) {
	f, err := os.Open(in.name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	a, err := npy.ReadHeader(f)
	if err != nil {
		return "", err
	}
	begin, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	size, err := a.Size()
	if err != nil {
		return "", err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case info.Size() < begin+int64(size):
		return "", fmt.Errorf("%w: it has %d bytes of %d", npy.ErrSize, info.Size(), begin+int64(size))
	case a.Fortran && len(a.Shape) > 1:
		return "", fmt.Errorf("%w: its first axis varies fastest: save numpy.ascontiguousarray of it", npy.ErrType)
	}
	in.size = a.Shape
	in.read = func(at []int, to []byte) error {
		index := 0
		for i, n := range in.size {
			index = index*n + at[i]
		}
		f, err := os.Open(in.name)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.ReadAt(to, begin+int64(index)*int64(in.each))
		return err
	}
	return a.DType, nil
}

// openZarr returns the type of a number. A cell has so many axes of its own.
func (in *In[T]) openZarr(axes int) (string, error) {
	r, err := zarr.Open(in.name)
	if err != nil {
		return "", err
	}
	in.size = r.Shape
	in.read = func(at []int, to []byte) error {
		if axes == 0 {
			return r.ReadRow(at, to)
		}
		for at = append(at, 0); len(to) > 0; at[len(at)-2]++ { // a cell is a row of its own
			if err := r.ReadRow(at, to[:in.each]); err != nil {
				return err
			}
			to = to[in.each:]
		}
		return nil
	}
	return r.Type, nil
}
