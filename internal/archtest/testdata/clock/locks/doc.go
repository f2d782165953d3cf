// Package locks stands for the real one.
package locks
