// Package p2p stands for the real one.
package p2p
