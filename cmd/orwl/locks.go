package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks"
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
