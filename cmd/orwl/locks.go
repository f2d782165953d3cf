package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lab"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// runLocks is orwl locks: the table.
func runLocks(f *flag.FlagSet, args []string, out io.Writer) error {
	tree := f.String("topology", "node:4 core:8", command.Usage("topology", ""))
	asJSON := f.Bool("json", false, command.Usage("json", ": an array with an object for each lock"))
	if err := command.Parse(f, args); err != nil {
		return err
	}
	t, err := topology.Parse(*tree)
	if err != nil {
		return command.Misusef("-topology: %w", err)
	}
	if *asJSON {
		return writeLocks(out, t)
	}
	fmt.Fprintf(out, "Words and remote operations on %s (%d ranks); for one lock, and for each rank.\n\n", t, t.Ranks())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "lock\tkind\tgives up\twords\tper rank\tuncontended\tcontended\treader\tfairness")
	for _, s := range locks.All() {
		words := s.WordsOn(t)
		gives := "-"
		if s.Aborts == locks.Always {
			gives = "any time"
		}
		reader := "-"
		if s.Kind == locks.ReaderWriter {
			reader = s.Cost.Reader.String()
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%d\t%d\t%v\t%v\t%s\t%s\n", s.Name, s.Kind, gives, words.Home, words.Rank,
			s.Cost.Uncontended, s.Cost.Contended, reader, s.Fairness)
	}
	return w.Flush()
}

// lockRow is a row of the table as JSON.
type lockRow struct {
	Lock        string   `json:"lock"`
	Kind        string   `json:"kind"`
	Paper       string   `json:"paper"`
	About       string   `json:"about"`
	Fairness    string   `json:"fairness"`
	GivesUp     bool     `json:"gives_up"`
	FIFO        bool     `json:"fifo"`
	Options     []string `json:"options,omitempty"`
	WordsHome   int      `json:"words_home"`
	WordsRank   int      `json:"words_rank"`
	Uncontended cost     `json:"uncontended"`
	Contended   cost     `json:"contended"`
	Reader      *cost    `json:"reader,omitempty"`
}

// cost is what an acquire and a release take of the network.
type cost struct {
	Atomics   int  `json:"atomics"`
	Puts      int  `json:"puts"`
	Gets      int  `json:"gets"`
	Unbounded bool `json:"unbounded,omitempty"`
}

// writeLocks writes the table as JSON, for the ranks of t.
func writeLocks(out io.Writer, t *topology.Tree) error {
	var rows []lockRow
	for _, s := range locks.All() {
		words := s.WordsOn(t)
		row := lockRow{
			Lock: s.Name, Kind: s.Kind.String(), Paper: s.Paper, About: s.About, Fairness: s.Fairness,
			GivesUp: s.Aborts == locks.Always, FIFO: s.FIFO, Options: s.Options,
			WordsHome: words.Home, WordsRank: words.Rank,
			Uncontended: cost(s.Cost.Uncontended), Contended: cost(s.Cost.Contended),
		}
		if s.Kind == locks.ReaderWriter {
			reader := cost(s.Cost.Reader)
			row.Reader = &reader
		}
		rows = append(rows, row)
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(text))
	return err
}

// lockOptions are the flags that are options of a lock.
type lockOptions struct {
	tl          string
	tdc, tr, tw int
	stepBack    bool
}

func (l *lockOptions) define(f *flag.FlagSet) {
	f.StringVar(&l.tl, "tl", "", command.Usage("tl", ""))
	f.IntVar(&l.tdc, "tdc", 0, command.Usage("tdc", ""))
	f.IntVar(&l.tr, "tr", 0, command.Usage("tr", ""))
	f.IntVar(&l.tw, "tw", 0, command.Usage("tw", ""))
	f.BoolVar(&l.stepBack, "step-back", false, command.Usage("step-back", ""))
}

// options is what the flags say.
func (l *lockOptions) options() (locks.Options, error) {
	o := locks.Options{TDC: l.tdc, TR: l.tr, TW: l.tw, StepBack: l.stepBack}
	if l.tl == "" {
		return o, nil
	}
	for _, field := range strings.FieldsFunc(l.tl, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return o, command.Misusef("-tl: %q is no number", field)
		}
		o.TL = append(o.TL, n)
	}
	return o, nil
}

// command is the flags as they were given.
func (l *lockOptions) command() string {
	var text string
	if l.tl != "" {
		text = " -tl " + strings.ReplaceAll(l.tl, " ", ",")
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"tdc", l.tdc}, {"tr", l.tr}, {"tw", l.tw}} {
		if f.n != 0 {
			text += fmt.Sprintf(" -%s %d", f.name, f.n)
		}
	}
	if l.stepBack {
		text += " -step-back"
	}
	return text
}

// specimen is the lock that the flags name, one of the library's or one that is
// there to be looked at.
func (c *contestFlags) specimen(t *topology.Tree) (specimen.Specimen, error) {
	o, err := c.options.options()
	if err != nil {
		return specimen.Specimen{}, err
	}
	if s, ok := specimen.ByName(c.lock); ok {
		if c.options != (lockOptions{}) {
			return s, command.Misusef("-lock %s has no options: -tl, -tdc, -tr, -tw and -step-back are for the locks of orwl locks", c.lock)
		}
		return s, nil
	}
	spec, ok := lab.LockByName(c.lock)
	if !ok {
		return specimen.Specimen{}, command.Misusef("-lock: no lock %q: want %s", c.lock, known())
	}
	if err := spec.Validate(t, o); err != nil {
		return specimen.Specimen{}, command.Misusef("%w", err)
	}
	return specimen.Specimen{Name: spec.Name, About: spec.About,
		New: func(f rma.Fabric) (func(rma.Window) specimen.Lock, error) {
			l, err := spec.New(f, o)
			if err != nil {
				return nil, err
			}
			return func(w rma.Window) specimen.Lock { return l.At(w) }, nil
		}}, nil
}

// known says which locks can be played.
func known() string {
	var names []string
	for _, s := range specimen.All() {
		names = append(names, s.Name)
	}
	return "one that orwl locks lists, or " + strings.Join(names, ", ")
}
