package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/orwl/go-orwl/orwl/launch"
)

// command is one of the things that dht does.
type command struct {
	name  string
	about string
	// run defines its flags on f, parses the arguments and does the work.
	run func(f *flag.FlagSet, args []string, out io.Writer) error
}

func commands(complaints io.Writer) []command {
	return []command{
		{"serve", "serve a hash table to redis clients", serveTo(complaints)},
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
	all := commands(complaints)
	if len(args) == 0 {
		overview(complaints, all)
		return exitUsage
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help" {
		overview(out, all)
		return exitOK
	}
	names := make([]string, 0, len(all))
	for _, c := range all {
		if c.name == args[0] {
			return c.call(args[1:], out, complaints)
		}
		names = append(names, c.name)
	}
	fmt.Fprintf(complaints, "dht: no command %q: want %s; dht -h tells more\n", args[0], strings.Join(names, " or "))
	return exitUsage
}

func overview(w io.Writer, all []command) {
	fmt.Fprintln(w, "usage: dht COMMAND [FLAGS]")
	fmt.Fprintln(w)
	for _, c := range all {
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
		var failed *launch.NodeError
		if errors.As(err, &failed) {
			return failed.ExitCode()
		}
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
