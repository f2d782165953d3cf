// Package zarr reads and writes arrays of zarr, version 3, as plain files. A group is a folder of arrays, and an array a
// folder of chunks. All chunks have the same size:
//
//	run.zarr/zarr.json            the group
//	run.zarr/heat/zarr.json       an array: its type, its shape, the size of a chunk
//	run.zarr/heat/c/0/1           the chunk at 0, 1: its numbers, and nothing else
//
// Any process writes the descriptions, and one process writes each chunk:
//
//	a := zarr.Array{Type: "float64", Shape: []int{100, 200}, Chunk: []int{50, 100}}
//	err := zarr.WriteGroup("run.zarr")
//	err = a.Write("run.zarr/heat")
//	err = a.WriteChunk("run.zarr/heat", []int{0, 1}, data)
//	r, err := zarr.Open("run.zarr/heat")
//	err = r.ReadRow([]int{10, 0}, row)
//
// Each file has its name when it is complete. The numbers are little-endian and not compressed, and the package reads no
// others. Several processes may write chunks of one array at the same time.
package zarr
