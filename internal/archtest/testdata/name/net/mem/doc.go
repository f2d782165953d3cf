// Package mem stands for the real one.
package mem
