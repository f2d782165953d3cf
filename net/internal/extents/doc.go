// Package extents keeps books of which parts of a piece of memory are free.
package extents
