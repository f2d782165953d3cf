// Package quic stands for the real one.
package quic
