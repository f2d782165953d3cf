package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/orwl/go-orwl/orwl/launch"
)

// Program is a program with commands.
type Program struct {
	Name     string
	About    string // for its manual page; may be empty
	Commands []Command
	// Flags are for the program itself, without a command, and Alone is their help. Nil: it does nothing without a command.
	Flags func() *flag.FlagSet
	Alone Command
}

// Command is one of the things that a program does.
type Command struct {
	Name    string
	About   string
	Usage   string // how it is called, in lines; NAME [FLAGS] if empty
	Text    string // the rest that there is to know, in lines that fit a terminal
	Example string // command lines that work
	Groups  []Group
	// Run defines its flags on f, has Parse parse the arguments, and does the work.
	Run func(f *flag.FlagSet, args []string, out io.Writer) error
}

// The exit codes.
const (
	Done        = 0
	Failed      = 1
	Misused     = 2
	Interrupted = 130 // by Ctrl-C, as in shells
	Terminated  = 143 // by SIGTERM, as in shells
)

// Codes are the exit codes in a line.
const Codes = "0 done, 1 failed, 2 not asked properly, 130 interrupted, 143 terminated"

// Execute runs one command line and returns its exit code.
func (p Program) Execute(args []string, out, complaints io.Writer) int {
	if len(args) == 0 {
		p.overview(complaints)
		return Misused
	}
	if code, done := p.Builtin(args, out, complaints); done {
		return code
	}
	switch {
	case args[0] == "help":
		args = append(args[1:2:2], "-h")
	}
	if c := p.command(args[0]); c != nil {
		return c.execute(p.Name+" "+c.Name, args[1:], out, complaints)
	}
	fmt.Fprintf(complaints, "%s: no command %q%s: want %s; %s -h tells more\n", p.Name, args[0], didYouMean(args[0], p.list()), p.names(), p.Name)
	return Misused
}

// command is the command of a name, or nil.
func (p Program) command(name string) *Command {
	for i := range p.Commands {
		if p.Commands[i].Name == name {
			return &p.Commands[i]
		}
	}
	return nil
}

// list is the names of all commands.
func (p Program) list() (names []string) {
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	return names
}

// Builtin does what every program can do: version, completion, man, and help without a command.
// It reports whether the arguments ask for that. A program that reads its own command line calls
// it first.
func (p Program) Builtin(args []string, out, complaints io.Writer) (code int, done bool) {
	if len(args) == 0 {
		return Done, false
	}
	var text strings.Builder
	if (args[0] == "version" || args[0] == "man") && len(args) > 1 {
		fmt.Fprintf(complaints, "%s %s: unexpected argument %q\n", p.Name, args[0], args[1])
		return Misused, true
	}
	switch args[0] {
	case "version", "-version", "--version":
		fmt.Fprintln(&text, p.Name, Version())
	case "man":
		p.Manual(&text)
	case "completion":
		if err := p.Completion(&text, strings.Join(args[1:], " ")); err != nil {
			fmt.Fprintf(complaints, "%s completion: %v\n", p.Name, err)
			return Misused, true
		}
	case "help", "-h", "-help", "--help":
		if args[0] == "help" && len(args) > 1 {
			return Done, false
		}
		p.help(&text)
	default:
		return Done, false
	}
	return printed(p.Name, text.String(), out, complaints), true
}

// names is which commands there are: "run, locks or sim".
func (p Program) names() string { return choice(p.list()) }

// choice is a list as a sentence has it: "run, locks or sim".
func choice(words []string) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(word)
	}
	return b.String()
}

// execute runs the command, whose whole name is given, and turns what comes of it into an
// exit code.
func (c Command) execute(name string, args []string, out, complaints io.Writer) int {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	into := &output{Writer: out}
	err := c.Run(f, args, into)
	if err == nil {
		err = into.err
	}
	var misused *misuse
	var failed *launch.NodeError
	var exit *ExitError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, flag.ErrHelp):
		var text strings.Builder
		c.help(name, c.About, f, &text)
		return printed(name, text.String(), out, complaints)
	case errors.As(err, &misused):
		fmt.Fprintf(complaints, "%s: %v\n%s -h shows the flags\n", name, err, name)
		return Misused
	}
	code := Failed
	switch {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case errors.As(err, &exit):
		code = exit.Code
	}
	if code != Interrupted || exit != nil && exit != ErrInterrupted { // after Ctrl-C, only what the command adds
		fmt.Fprintf(complaints, "%s: %v\n", name, err)
	}
	return code
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

// Unwrap is what is wrong.
func (m *misuse) Unwrap() error { return m.error }

// Misusef is the error of a command line that makes no sense.
func Misusef(format string, args ...any) error { return &misuse{fmt.Errorf(format, args...)} }

// Parse reads the flags; a command takes no other arguments.
func Parse(f *flag.FlagSet, args []string) error {
	if err := ParseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return Misusef("unexpected argument %q", f.Arg(0))
	}
	return nil
}

// ParseFlags reads the flags that stand before other arguments. Its errors are misuse, in words of
// our own, or flag.ErrHelp.
func ParseFlags(f *flag.FlagSet, args []string) error {
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return &misuse{InOurWords(f, err)}
}

// output is where a command prints. It keeps the first error, so that a full disk is a failure of
// every command.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Below is the writer below the one that a command got. A process gets that as its own output: a
// terminal stays one.
func Below(out io.Writer) io.Writer {
	if o, ok := out.(*output); ok {
		return o.Writer
	}
	return out
}

// printed writes a text, and is the exit code.
func printed(name, text string, out, complaints io.Writer) int {
	if _, err := io.WriteString(out, text); err != nil {
		fmt.Fprintf(complaints, "%s: %v\n", name, err)
		return Failed
	}
	return Done
}

// Interrupts is a context that ends by Ctrl-C or SIGTERM, and a function that tells whether it was
// Ctrl-C: the program's exit code is Interrupted then. A second signal ends the program at once.
func Interrupts() (ctx context.Context, stop func(), interrupted func() bool) {
	var pressed atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case s := <-signals:
			pressed.Store(s == os.Interrupt)
			signal.Stop(signals)
			if s == os.Interrupt {
				cancel(ended("interrupted"))
			} else {
				cancel(ended("terminated"))
			}
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() { cancel(nil) }, pressed.Load
}

// ended is the cause of a context that a signal has ended. It is context.Canceled, in other words.
type ended string

func (e ended) Error() string { return string(e) }

// Is reports whether target is context.Canceled.
func (e ended) Is(target error) bool { return target == context.Canceled }

// built is the version that the build says, where Go cannot know it: the image's build has no .git.
//
//	go build -ldflags '-X github.com/orwl/go-orwl/internal/command.built=v0.1.0' ./cmd/orwl
var built string

// Version is the module's version, or the commit that this program was built from, and
// the Go and the platform that it was built for.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return runtime.Version()
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	text, commit, changed := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	if text == "" || text == "(devel)" {
		text = cmp.Or(built, "of no release")
	}
	if commit != "" {
		text += " (commit " + commit + changed + ")"
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
