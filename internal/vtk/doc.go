// Package vtk writes images as ParaView and VTK read them. An image is a box of cells. Each process writes pieces of it, and
// one process writes which pieces there are, and the images of a series:
//
//	run.pvd                 the series: a time and an image each
//	run/000100.pvti         an image: its pieces
//	run/000100-3.vti        a piece: a box of cells
//
// Pieces abut: they have no cell in common. The numbers are little-endian, and stand behind the description in the same file.
// The last dimension of a [Box] is x.
package vtk
