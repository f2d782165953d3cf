// Package handle stands for the real one.
package handle
