// Package extents records which parts of a piece of memory are free.
package extents
