package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/orwl/go-orwl/orwl/launch"
)

// Program is a program with commands.
type Program struct {
	Name     string
	Commands []Command
}

// Command is one of the things that a program does.
type Command struct {
	Name  string
	About string
	// Run defines its flags on f, has Parse parse the arguments, and does the work.
	Run func(f *flag.FlagSet, args []string, out io.Writer) error
}

// The exit codes.
const (
	Done = iota
	Failed
	Misused
)

// Execute runs one command line and returns its exit code.
func (p Program) Execute(args []string, out, complaints io.Writer) int {
	if len(args) == 0 {
		p.overview(complaints)
		return Misused
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		p.overview(out)
		return Done
	}
	for _, c := range p.Commands {
		if c.Name == args[0] {
			return c.execute(p.Name+" "+c.Name, args[1:], out, complaints)
		}
	}
	fmt.Fprintf(complaints, "%s: no command %q: want %s; %s -h tells more\n", p.Name, args[0], p.names(), p.Name)
	return Misused
}

// names is which commands there are: "run, locks or sim".
func (p Program) names() string {
	var b strings.Builder
	for i, c := range p.Commands {
		switch {
		case i == 0:
		case i == len(p.Commands)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(c.Name)
	}
	return b.String()
}

func (p Program) overview(w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [FLAGS]\n\n", p.Name)
	longest := 8
	for _, c := range p.Commands {
		longest = max(longest, len(c.Name))
	}
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  %-*s %s\n", longest, c.Name, c.About)
	}
	fmt.Fprintf(w, "\n%s COMMAND -h shows a command's flags.\n", p.Name)
}

// execute runs the command, whose whole name is given, and turns what comes of it into an
// exit code.
func (c Command) execute(name string, args []string, out, complaints io.Writer) int {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := c.Run(f, args, out)
	var misused *misuse
	var failed *launch.NodeError
	var exit *ExitError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "%s: %s\n\nflags:\n", name, c.About)
		f.SetOutput(out)
		f.PrintDefaults()
		return Done
	case errors.As(err, &misused):
		fmt.Fprintf(complaints, "%s: %v\n%s -h shows the flags\n", name, err, name)
		return Misused
	}
	fmt.Fprintf(complaints, "%s: %v\n", name, err)
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode()
	case errors.As(err, &exit):
		return exit.Code
	}
	return Failed
}

// ExitError is an error with an exit code of its own.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *ExitError) Unwrap() error { return e.Err }

// misuse is a command line that makes no sense.
type misuse struct{ error }

// Misusef is the error of a command line that makes no sense.
func Misusef(format string, args ...any) error { return &misuse{fmt.Errorf(format, args...)} }

// Parse reads the flags; a command takes no other arguments.
func Parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return &misuse{err}
	}
	if f.NArg() > 0 {
		return Misusef("unexpected argument %q", f.Arg(0))
	}
	return nil
}
