package main

import "sync"

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
