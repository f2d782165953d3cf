package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/orwl/go-orwl/internal/npy"
)

// dataFile is a .npy file with a whole matrix, its ring included. Blocks read
// from it what is theirs, so that the matrix is in memory once only.
type dataFile struct {
	file  *os.File
	begin int64 // of the data
	size  size  // with the ring
}

// openData opens a file and looks at what it says it is.
func openData(name string) (_ *dataFile, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	a, err := npy.ReadHeader(f)
	if err != nil {
		return nil, err
	}
	switch {
	case a.DType != "<f8":
		return nil, fmt.Errorf("its elements are %s: save it as float64, with astype(\"<f8\")", a.DType)
	case len(a.Shape) != 2 || a.Shape[0] < 3 || a.Shape[1] < 3:
		return nil, fmt.Errorf("it has the shape %v: want a matrix of at least 3x3, its ring included", a.Shape)
	case a.Fortran:
		return nil, errors.New("it is in Fortran order: save it row by row, with numpy.ascontiguousarray")
	}
	d := &dataFile{file: f, size: size{a.Shape[0], a.Shape[1]}}
	if d.begin, err = f.Seek(0, io.SeekCurrent); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if want := d.begin + 8*d.size.cells(); info.Size() < want {
		return nil, fmt.Errorf("it has %d of %d bytes: get the whole file", info.Size(), want)
	}
	return d, nil
}

// read reads neighbours in a row, from element (i,j) on.
func (d *dataFile) read(i, j int, row []float64) error {
	at := int64(i)*int64(d.size.cols) + int64(j)
	if _, err := d.file.ReadAt(bytesOf(row), d.begin+8*at); err != nil {
		return fmt.Errorf("reading row %d of %s: %w", i, d.file.Name(), err)
	}
	return nil
}

// Close closes the file. No file is closed already.
func (d *dataFile) Close() error {
	if d == nil {
		return nil
	}
	return d.file.Close()
}

// reason is an error without the name of the file, which the flag has named.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
