// Package commandtest checks the help of programs: that it fits a terminal, that each flag has a
// group, that a name of a flag means the same everywhere, that docs/reference/commands.md shows it, and that a
// full disk is a failure.
//
// To write the part of a program in that page anew:
//
//	go test ./cmd/orwl -run TestHelpPage -rewrite
package commandtest
