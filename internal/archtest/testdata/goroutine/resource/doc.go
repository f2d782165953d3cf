// Package resource stands for the real one.
package resource
