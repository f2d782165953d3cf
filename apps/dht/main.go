package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// command is one of the things that dht does.
type command struct {
	name  string
	about string
	// run defines its flags on f, parses the arguments and does the work.
	run func(f *flag.FlagSet, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"bench", "look up and insert elements of one volume from all other ranks, as the paper does", runBench},
	}
}

// The exit codes.
const (
	exitOK = iota
	exitBad
	exitUsage
)

func main() {
	if started, err := benchProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "dht bench:", err)
			os.Exit(exitBad)
		}
		return
	}
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, out, complaints io.Writer) int {
	if len(args) == 0 {
		overview(complaints)
		return exitUsage
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help" {
		overview(out)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.call(args[1:], out, complaints)
		}
	}
	fmt.Fprintf(complaints, "dht: no command %q: want bench; dht -h tells more\n", args[0])
	return exitUsage
}

func overview(w io.Writer) {
	fmt.Fprintln(w, "usage: dht COMMAND [FLAGS]")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.about)
	}
	fmt.Fprintln(w, "\ndht COMMAND -h shows a command's flags.")
}

// call runs a command and turns what comes of it into an exit code.
func (c command) call(args []string, out, complaints io.Writer) int {
	f := flag.NewFlagSet("dht "+c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := c.run(f, args, out)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "dht %s: %s\n\nflags:\n", c.name, c.about)
		f.SetOutput(out)
		f.PrintDefaults()
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(complaints, "dht %s: %v\ndht %s -h shows the flags\n", c.name, err, c.name)
		return exitUsage
	default:
		fmt.Fprintf(complaints, "dht %s: %v\n", c.name, err)
		return exitBad
	}
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// parse reads the flags; a command takes no other arguments.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &usageError{err}
	}
	if f.NArg() > 0 {
		return usagef("unexpected argument %q", f.Arg(0))
	}
	return nil
}
