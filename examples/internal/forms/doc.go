// Package forms runs the kernel of an example on a larger grid in four forms: a grid of package stencil, one
// goroutine, goroutines that meet at a barrier after each sweep, and C with OpenMP. All add in the same order, so
// their cells are the same, bit for bit.
package forms
