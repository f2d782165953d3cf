// Package rmatest stands for the real one.
package rmatest
