// Package inside is what package show reads of a grid while it runs. Programs draw grids by show, so package stencil exports
// none of it.
package inside
