package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl/trace"
	"github.com/orwl/go-orwl/orwl/watch"
	"golang.org/x/term"
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

const whyText = `Names the culprit of a run that stands still, in one line: the node, its process, the task,
what it does, since when, and which tasks wait for it. Or the node that does not answer.
The run was started with ORWL_WATCH=1, -watch or -metrics. Any of its nodes tells it of all:
each HOST:PORT is asked in turn, until one answers.
`

const topText = `Shows what the tasks of all nodes do, and which have waited longest, until the run ends.
Without a terminal it prints a line each second. The run was started with ORWL_WATCH=1,
-watch or -metrics, and any of its nodes shows all.
`

// whyPatience is how long a node has for its answer. It asks the others, twice if they have just moved.
const whyPatience = 8 * time.Second

// nodePorts are the addresses of the first nodes of a run on this machine.
var nodePorts = []string{port.Default, "127.0.0.1:9465", "127.0.0.1:9466"}

// runWhy is orwl why.
func runWhy(f *flag.FlagSet, args []string, out io.Writer) error {
	asJSON := f.Bool("json", false, command.Usage("json", ""))
	at, err := addresses(f, args)
	if err != nil {
		return err
	}
	accept := "text/plain"
	if *asJSON {
		accept = "application/json"
	}
	var silent []string
	for _, address := range at {
		text, err := askWhy(address, accept)
		if err == nil {
			_, err = io.WriteString(out, text)
			return err
		}
		silent = append(silent, err.Error())
	}
	return fmt.Errorf("%w: %s", watch.ErrNoRun, strings.Join(silent, "; "))
}

// askWhy asks a node.
func askWhy(address, accept string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), whyPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/watch/why", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", accept)
	answer, err := new(http.Client).Do(r)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s does not answer in %v", address, whyPatience)
		}
		return "", err
	}
	defer answer.Body.Close()
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, strings.TrimSpace(string(b)))
	}
	return string(b), err
}

// runTop is orwl top.
func runTop(f *flag.FlagSet, args []string, out io.Writer) error {
	once := f.Bool("once", false, "show one moment, and end")
	at, err := addresses(f, args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := watch.TopOptions{Out: out, Once: *once}
	if file, is := out.(*os.File); is && terminal.Is(out) {
		o.Size = func() (cols, lines int) {
			cols, lines, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80, 24
			}
			return cols, lines
		}
	}
	for _, o.Address = range at {
		if err = watch.Top(ctx, o); !errors.Is(err, watch.ErrNoRun) {
			return err
		}
	}
	return err
}

// addresses are the arguments, or where the first nodes of a run on this machine are.
func addresses(f *flag.FlagSet, args []string) ([]string, error) {
	if err := command.ParseFlags(f, args); err != nil {
		return nil, err
	}
	if f.NArg() == 0 {
		return nodePorts, nil
	}
	for _, address := range f.Args() {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, command.Misusef("%q is no address: want HOST:PORT, such as %s", address, port.Default)
		}
	}
	return f.Args(), nil
}
