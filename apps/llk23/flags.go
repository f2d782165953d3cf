package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
)

// The limits keep a slip of the finger from asking for all memory: 2^32
// elements are 192 GiB. Ranks know each other, so they cost their square.
const (
	mostRows     = 1 << 20
	mostCols     = 1 << 20
	mostElements = 1 << 32
	mostIters    = 1 << 30
	mostRanks    = 1 << 12
)

// options are what the command line says.
type options struct {
	rows, cols, iters int
	ranks             int
	verify, json      bool
}

// parse reads the command line. Its errors name the flag and the range; asking
// for help is flag.ErrHelp.
func parse(args []string) (options, error) {
	o := defaults()
	fs := o.flagSet()
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	return o.check(fs)
}

func defaults() options {
	return options{rows: 2000, cols: 2000, iters: 100, verify: true}
}

func (o *options) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("llk23", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Var(count{&o.rows, mostRows}, "rows", "rows of elements inside the constant ring")
	fs.Var(count{&o.cols, mostCols}, "cols", "elements in each of these rows")
	fs.Var(count{&o.iters, mostIters}, "iters", "sweeps over the matrix")
	fs.Var(count{&o.ranks, mostRanks}, "ranks", "strips, each swept by a rank of its own, at most one for each row")
	fs.Var((*choice)(&o.verify), "verify", "compare every bit with a sequential sweep; -verify=false skips it")
	fs.Var((*choice)(&o.json), "json", "print one JSON object instead of the table")
	return fs
}

// check looks at the flags together.
func (o options) check(fs *flag.FlagSet) (options, error) {
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if most := mostElements / o.cols; o.rows > most {
		return o, fmt.Errorf("-rows %d: with -cols %d, want at most %d, for no more than 2^32 elements", o.rows, o.cols, most)
	}
	if o.ranks > o.rows {
		return o, fmt.Errorf("-ranks %d: with -rows %d, want at most %d, since each rank has at least one row", o.ranks, o.rows, o.rows)
	}
	if o.ranks == 0 {
		o.ranks = min(runtime.GOMAXPROCS(0), o.rows)
	}
	return o, nil
}

// usage is the help, in an order that makes sense.
func usage() string {
	o := defaults()
	fs := o.flagSet()
	var b strings.Builder
	b.WriteString(`Usage: llk23 [flags]

Sweeps Livermore kernel 23 over a matrix that is cut into horizontal strips.

`)
	for _, name := range []string{"rows", "cols", "iters", "ranks", "verify", "json"} {
		f := fs.Lookup(name)
		text, byDefault := f.Usage, f.DefValue
		if number, ok := f.Value.(count); ok {
			name += " N"
			text += fmt.Sprintf(", 1 to %d", number.most)
			if *number.value == 0 {
				byDefault = "one for each processor"
			}
		}
		fmt.Fprintf(&b, "  -%-9s %s (default %s)\n", name, text, byDefault)
	}
	b.WriteString(`
An element takes 48 bytes of memory, and 56 while it is verified.
Exit codes: 0 done, 1 failed or not the sequential sweep's result, 2 bad flags, 130 interrupted.
`)
	return b.String()
}

// count is a flag that is a number from 1 to most.
type count struct {
	value *int
	most  int
}

func (c count) String() string {
	if c.value == nil {
		return ""
	}
	return strconv.Itoa(*c.value)
}

func (c count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > c.most {
		return fmt.Errorf("want a whole number from 1 to %d", c.most)
	}
	*c.value = n
	return nil
}

// choice is a flag that is true or false.
type choice bool

func (c *choice) String() string   { return strconv.FormatBool(bool(*c)) }
func (c *choice) IsBoolFlag() bool { return true }

func (c *choice) Set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*c = choice(v)
	return nil
}
