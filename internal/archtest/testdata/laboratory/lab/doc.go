// Package lab imports what stands on it, and starts a goroutine.
package lab
