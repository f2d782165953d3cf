// Package command is what programs with several commands have in common: they list
// what they can do, run one, show its flags, and say in one line what is wrong.
//
//	os.Exit(command.Program{Name: "orwl", Commands: all}.Execute(os.Args[1:], os.Stdout, os.Stderr))
//
// The result of a command is its exit code: [Done], [Failed], [Misused] for a command line that
// makes no sense, or the code of the node that failed.
package command
