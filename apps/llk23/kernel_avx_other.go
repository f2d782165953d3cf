//go:build !amd64

package main

func suitsAVX(*block) bool { return false }

func sweepUnitsAVX(_ *block, _, _ int) (row, element int) {
	panic("llk23: the AVX form of the kernel on a machine without AVX")
}
