// Package orwl stands for the real one.
package orwl
