// Package invariant stands for the real one.
package invariant
