// Package topology stands for the real one.
package topology
