package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/session"
)

const holdersUsage = `orwl holders [PREFIX]                    all locks, or those with a prefix
orwl holders -watch NAME                 one lock, and again after each change
orwl holders -release [-fence N] NAME    tell its holders to let go`

const holdersText = `A holder that is told so ends: orwl lock ends its command. The next one has the lock when
the holder has let go, or after the lease and its skew.
`

// runHolders is orwl holders.
func runHolders(f *flag.FlagSet, args []string, out io.Writer) error {
	var at sessionFlags
	at.define(f)
	watch := f.Bool("watch", false, "show the lock NAME after each change, until the server ends")
	release := f.Bool("release", false, "release the lock NAME by force")
	asJSON := f.Bool("json", false, command.Usage("json", ": an object for each lock, in a line"))
	fence := f.Uint64("fence", 0, "with -release: only the holder with the fence `N`; 0 means all")
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	switch {
	case f.NArg() > 1:
		return command.Misusef("unexpected argument %q: flags stand before the one name", f.Arg(1))
	case *watch && *release:
		return command.Misusef("-watch and -release exclude each other")
	case (*watch || *release) && f.Arg(0) == "":
		return command.Misusef("no name: name the lock behind the flags")
	case *asJSON && *release:
		return command.Misusef("-json is for what -release does not print: leave it away")
	case *fence != 0 && !*release:
		return command.Misusef("-fence is for -release")
	}
	show := printStates
	if *asJSON {
		show = writeStates
	}
	ctx := context.Background()
	s, err := at.dial(ctx, "")
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case *watch:
		for state, err := range s.Watch(ctx, f.Arg(0)) {
			if err != nil {
				return err
			}
			if err := show(out, state); err != nil {
				return err
			}
		}
		return nil
	case *release:
		n, err := s.Revoke(ctx, f.Arg(0), *fence)
		if err == nil && n == 0 {
			err = noHolder(f.Arg(0), *fence)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "told %d to let go of %s\n", n, f.Arg(0))
		return nil
	}
	states, err := s.List(ctx, f.Arg(0))
	return errors.Join(err, show(out, states...))
}

// noHolder is that no session holds a lock, by the fence if that is not 0.
func noHolder(name string, fence uint64) error {
	if fence != 0 {
		name = fmt.Sprintf("%s with fence %d", name, fence)
	}
	return fmt.Errorf("no session holds %s: orwl holders shows who holds what", name)
}

// printStates prints a line for each request.
func printStates(out io.Writer, states ...session.State) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "lock\tstate\tfence\tfor\twho")
	for _, s := range states {
		if s.Length == 0 {
			fmt.Fprintf(w, "%s\tfree\t\t\t\n", s.Name)
		}
		for _, r := range s.Requests {
			fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%s\n", s.Name, stateOf(r), fenceOf(r), r.For.Round(time.Millisecond), r.Who)
		}
		if more := s.Length - len(s.Requests); more > 0 {
			fmt.Fprintf(w, "%s\t%d more\t\t\t\n", s.Name, more)
		}
	}
	return w.Flush()
}

// writeStates writes an object of JSON for each lock.
func writeStates(out io.Writer, states ...session.State) error {
	type request struct {
		Who     string  `json:"who"`
		State   string  `json:"state"`
		Fence   uint64  `json:"fence,omitempty"`
		Seconds float64 `json:"seconds"`
	}
	for _, s := range states {
		all := make([]request, 0, len(s.Requests))
		for _, r := range s.Requests {
			all = append(all, request{r.Who, stateOf(r), r.Fence, r.For.Seconds()})
		}
		err := json.NewEncoder(out).Encode(struct {
			Lock     string    `json:"lock"`
			Length   int       `json:"length"` // of the queue
			Requests []request `json:"requests"`
		}{s.Name, s.Length, all})
		if err != nil {
			return err
		}
	}
	return nil
}

func stateOf(r session.Request) string {
	switch {
	case r.Revoked:
		return "must let go"
	case r.Held && r.Read:
		return "reads"
	case r.Held:
		return "holds"
	case r.Read:
		return "waits to read"
	}
	return "waits"
}

func fenceOf(r session.Request) string {
	if !r.Held {
		return "-"
	}
	return fmt.Sprint(r.Fence)
}
