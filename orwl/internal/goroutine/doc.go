// Package goroutine tells goroutines apart: [Number] says which one calls it. The runtime compares numbers, to notice a body
// that uses the access of another task.
package goroutine
