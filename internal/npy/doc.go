// Package npy reads and writes arrays in NumPy's file format, .npy. An [Array]
// describes the bytes as NumPy does: type, shape and order of the axes.
//
//	a := npy.Array{DType: "<f8", Shape: []int{100, 200}}
//	err := npy.Write(file, a, data)
//	a, data, err = npy.Read(file, limit)
//
// A file of Write is byte for byte the file that NumPy 1.24 makes. Read checks a
// size before it allocates memory for it, and takes no more from the reader than
// the array. The package knows numbers of fixed size in this machine's byte order
// (little-endian) and refuses all other types.
//
// Each error matches [ErrFormat], [ErrType] or [ErrSize], or it is the error of the
// reader or writer. The functions keep no state, so all goroutines may call them.
package npy
