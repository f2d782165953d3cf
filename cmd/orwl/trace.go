package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/orwl/trace"
)

const traceText = `Reads a trace that a program has written (llk23 -trace FILE, or a trace.Recorder of its
own) from FILE, or from standard input if FILE is -, and says where the time went: for
each task and for all, to work, to waits and to accesses; which waits were the longest,
and behind whom; and what the critical path consists of, which is followed backwards from
the end through the hand-overs. With -html it also writes a page that needs nothing else:
lanes of workers and tasks, the critical path, and waits by cause. The file itself is for
ui.perfetto.dev and for chrome://tracing.
`

// traceFile is what a trace is read from.
const traceFile = "a file that a program has written by -trace, or by a trace.Recorder"

// mostListed is how many waits can be asked for.
const mostListed = 1 << 20

// runTrace is orwl trace.
func runTrace(f *flag.FlagSet, args []string, out io.Writer) error {
	asJSON := f.Bool("json", false, command.Usage("json", ", with all numbers in seconds"))
	page := f.String("html", "", "write a page to `FILE`, too: lanes of workers and tasks, the critical path, waits by cause")
	waits := f.Int("waits", 10, "list the `N` longest waits")
	asked := len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help")
	switch {
	case asked:
	case len(args) == 0:
		return command.Misusef("say what to do with which trace: orwl trace report FILE")
	case args[0] != "report":
		return command.Misusef("no %q: want report, as in orwl trace report FILE", args[0])
	default:
		args = args[1:]
	}
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	if err := inRange("waits", *waits, 0, mostListed); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return command.Misusef("no file: name one, or - for standard input")
	} else if f.NArg() > 1 {
		return command.Misusef("unexpected argument %q: flags stand before the one FILE", f.Arg(1))
	}
	t, err := readTrace(f.Arg(0))
	if errors.Is(err, trace.ErrNotJSON) {
		return command.Misusef("%s: %w: want %s", f.Arg(0), err, traceFile)
	}
	if err != nil {
		return command.Misusef("%s: %w", f.Arg(0), err)
	}
	if *page != "" {
		if err := outfile.Write(*page, t.WriteHTML); err != nil {
			return err
		}
	}
	if *waits == 0 {
		*waits = -1
	}
	r := t.Report(trace.ReportOptions{Waits: *waits})
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err = io.WriteString(out, r.String())
	return err
}

func readTrace(name string) (*trace.Trace, error) {
	if name == "-" {
		return trace.Read(os.Stdin)
	}
	file, err := input(name, traceFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return trace.Read(file)
}
