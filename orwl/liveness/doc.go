// Package liveness decides whether a program of tasks goes round for ever.
package liveness
