package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/orwl/go-orwl/internal/npy"
)

// errDiffers is matched by the error of a result that is not the sequential
// sweep's.
var errDiffers = errors.New("the result is not the sequential sweep's")

// compare looks for the first element of rows that is not b's, bit for bit,
// where b is the whole matrix.
func compare(ctx context.Context, rows iter.Seq2[int, []float64], b *block) error {
	for i, row := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, want := range b.row(i) {
			if math.Float64bits(row[j]) != math.Float64bits(want) {
				return fmt.Errorf("%w: row %d, column %d is %v and should be %v", errDiffers, i, j, row[j], want)
			}
		}
	}
	return nil
}

// digest is the SHA-256 of rows as little-endian float64, one after the other.
func digest(ctx context.Context, rows iter.Seq2[int, []float64]) (string, error) {
	hash := sha256.New()
	var buffer []byte
	for _, row := range rows {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		buffer = buffer[:0]
		for _, v := range row {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		}
		hash.Write(buffer)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// export writes the final matrix as a .npy file, its ring included.
func (f *field) export(to io.Writer) error {
	whole := newMatrix(f.rows+2, f.cols+2)
	for i, row := range f.result() {
		copy(whole.row(i), row)
	}
	a := npy.Array{DType: "<f8", Shape: []int{f.rows + 2, f.cols + 2}}
	return npy.Write(to, a, bytesOf(whole.cells))
}
