package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/orwl/go-orwl/internal/npy"
)

// hills are initial values that a person can look at: three Gaussian hills on a slope. The
// coefficients let them spread, and a wind carry them round the middle of the matrix. Each
// element's coefficients add up to 1, so no element ever leaves the range of the initial values
// by more than zz adds.
//
// Every machine computes the same bits: nodes fill their own blocks. So the compiler must not
// fuse a product and a sum, which the conversions below prevent, and there is no math.Exp.
func hills(whole size) initial {
	return func(p plane, i, j int) float64 {
		y, x := float64(i)/float64(whole.rows+1), float64(j)/float64(whole.cols+1)
		switch p {
		case planeData:
			v := (x + y) / 4
			for _, h := range [...]hill{
				{y: 0.30, x: 0.35, wide: 0.10, high: 1},
				{y: 0.65, x: 0.70, wide: 0.07, high: 0.75},
				{y: 0.75, x: 0.25, wide: 0.14, high: 0.5},
			} {
				v += float64(h.high * h.at(y, x))
			}
			return v
		case planeZb: // of the northern element
			return (1.5 - x) / 4
		case planeZr:
			return (0.5 + x) / 4
		case planeZu: // of the eastern element
			return (1.5 - y) / 4
		case planeZv:
			return (0.5 + y) / 4
		}
		return (x - y) / 1024
	}
}

// hill is a Gaussian hill, in a matrix that is 1 high and 1 wide.
type hill struct{ y, x, wide, high float64 }

// at is exp(-q) by (1-q/256) to the power of 256, where q is half the square of the distance in
// widths. This takes eight multiplications, and is off by less than 0.002.
func (h hill) at(y, x float64) float64 {
	dy, dx := (y-h.y)/h.wide, (x-h.x)/h.wide
	e := max(0, 1-(float64(dy*dy)+float64(dx*dx))/512)
	for range 8 {
		e *= e
	}
	return e
}

// noise are initial values that any program can make for itself, element by
// element and in any order: numbers from 0 to 1 drawn by a hash of plane, row
// and column, scaled so that iterating converges.
func noise(p plane, i, j int) float64 {
	scale := [planes]float64{planeData: 1, planeZb: 0.25, planeZr: 0.25, planeZu: 0.25, planeZv: 0.25, planeZz: 0.01}
	return scale[p] * uniform(uint64(p)+1, uint64(i), uint64(j))
}

// uniform is a number from [0,1) for element (i,j) of plane t.
func uniform(t, i, j uint64) float64 {
	h := finalise(t*0x9E3779B97F4A7C15 + i*0xBF58476D1CE4E5B9 + j*0x94D049BB133111EB)
	return float64(h>>11) * 0x1p-53
}

// finalise is the finaliser of splitmix64.
func finalise(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// The original kernel 23 of McMahon's Livermore loops, version mf528, computes
// on planes of 101 by 7 values that lie in one stream, and publishes a checksum.

// lfkPlanes is where the planes begin in the stream.
var lfkPlanes = [planes]int{planeData: 12451, planeZr: 14572, planeZb: 15986, planeZu: 16693, planeZv: 17400, planeZz: 18107}

// lfkColumn is how many values lie between one row of ours and the next: the
// original's planes are stored by columns, its columns are our rows.
const lfkColumn = 101

// lfkSize is the original's matrix of length n = 100, without its ring.
var lfkSize = size{rows: 5, cols: 99}

// lfkStream is the values of all the Livermore loops' arrays.
var lfkStream = sync.OnceValue(func() []float64 {
	fuzz := 1.2345e-3
	buzz := 1 + fuzz
	fizz := float64(1.1 * fuzz)
	stream := make([]float64, 34132)
	for i := range stream {
		buzz = float64((1-fuzz)*buzz) + fuzz
		fuzz = -fuzz
		stream[i] = float64((buzz - fizz) * 0.1)
	}
	return stream
})

// lfk are the original's initial values.
func lfk(p plane, i, j int) float64 { return lfkStream()[lfkPlanes[p]+i*lfkColumn+j] }

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
