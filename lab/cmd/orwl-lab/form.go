package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"

	"github.com/orwl/go-orwl/internal/command"
)

// form is how a command prints its rows: as text, as one JSON array, or as CSV with a header.
type form struct{ json, csv bool }

func (o *form) define(f *flag.FlagSet) {
	f.BoolVar(&o.json, "json", false, command.Usage("json", ""))
	f.BoolVar(&o.csv, "csv", false, command.Usage("csv", ""))
}

func (o *form) validate() error {
	if o.json && o.csv {
		return command.Misusef("-json and -csv exclude each other")
	}
	return nil
}

// text reports whether people read the output.
func (o *form) text() bool { return !o.json && !o.csv }

// writeJSON writes a value in lines that people can read, too.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// writeRows writes the rows in the form that is not text. fields are a row's fields of CSV.
func writeRows[R any](out io.Writer, o form, columns []string, rows []R, fields func(R) []string) error {
	if o.json {
		return writeJSON(out, rows)
	}
	w := csv.NewWriter(out)
	w.Write(columns) // Error has what goes wrong
	for _, r := range rows {
		w.Write(fields(r))
	}
	w.Flush()
	return w.Error()
}
