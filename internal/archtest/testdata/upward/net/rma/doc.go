// Package rma stands for the real one.
package rma
