package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/orwl/go-orwl/orwl/launch"
)

// command is one of the tools.
type command struct {
	name  string
	about string
	// run defines its flags on f, parses the arguments and does the work.
	run func(f *flag.FlagSet, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"run", "start a program on several nodes of this machine, and end them together", runRun},
		{"locks", "show the table of locks: what each promises, takes and costs", runLocks},
		{"sim", "give a lock to the simulator and see whether it keeps its promises", runSim},
		{"predict", "play a lock on a described machine in virtual time", runPredict},
		{"vet", "say whether a system of tasks lives for ever, or where it deadlocks", runVet},
		{"trace", "say where the time of a recorded run went, and behind whom it waited", runTrace},
		{"topo", "show the machine as the tree that the locks see", runTopo},
		{"place", "put tasks near those they share with, on a described machine", runPlace},
		{"model", "measure what this machine's operations cost", runModel},
	}
}

// The exit codes.
const (
	exitOK = iota
	exitBad
	exitUsage
)

func main() {
	if started, err := measuringProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "orwl model:", err)
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
	fmt.Fprintf(complaints, "orwl: no command %q: want one of run, locks, sim, predict, vet, trace, topo, place, model; orwl -h tells more\n", args[0])
	return exitUsage
}

func overview(w io.Writer) {
	fmt.Fprintln(w, "usage: orwl COMMAND [FLAGS]")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.about)
	}
	fmt.Fprintln(w, "\norwl COMMAND -h shows a command's flags.")
}

// call runs a command and turns what comes of it into an exit code.
func (c command) call(args []string, out, complaints io.Writer) int {
	f := flag.NewFlagSet("orwl "+c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := c.run(f, args, out)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "orwl %s: %s\n\nflags:\n", c.name, c.about)
		f.SetOutput(out)
		f.PrintDefaults()
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(complaints, "orwl %s: %v\norwl %s -h shows the flags\n", c.name, err, c.name)
		return exitUsage
	default:
		fmt.Fprintf(complaints, "orwl %s: %v\n", c.name, err)
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

// inRange complains about a number outside its range.
func inRange(name string, value, least, most int) error {
	if value < least || value > most {
		return usagef("-%s is %d, want %d to %d", name, value, least, most)
	}
	return nil
}
