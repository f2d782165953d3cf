// Package draw prints the plate of the tutorial in characters. It keeps nothing.
//
//	draw.Plate(size, func(row, column int) float64 { return plate[row*size+column] })
package draw
