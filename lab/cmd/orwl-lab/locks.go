package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/printed"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

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

// isLock reports whether there is a lock of the name.
func (c *contestFlags) isLock() bool {
	_, ours := lab.LockByName(c.lock)
	_, wrong := specimen.ByName(c.lock)
	return ours || wrong
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
		return specimen.Specimen{}, noLock(c.lock)
	}
	if err := spec.Validate(t, o); err != nil {
		return specimen.Specimen{}, command.Misusef("%w", err)
	}
	return specimen.Specimen{Name: spec.Name, About: spec.About,
		New: func(f rma.Fabric) (func(rma.Window) specimen.Lock, error) {
			at, err := spec.New(f, o)
			if err != nil {
				return nil, err
			}
			return func(w rma.Window) specimen.Lock { return at(w) }, nil
		}}, nil
}

// lockNames are all locks that orwl-lab sim plays by a name of their own.
func lockNames() (names []string) {
	for _, s := range lab.Locks() {
		names = append(names, s.Name)
	}
	for _, s := range specimen.All() {
		names = append(names, s.Name)
	}
	return names
}

// noLock is the error of a lock that there is not.
func noLock(name string) error {
	return command.Misusef("-lock: no lock %q: the nearest are %s; orwl locks lists the locks of the library, and orwl-lab sim -h the others",
		name, strings.Join(command.Nearest(name, lockNames(), 3), ", "))
}

// known says which locks can be played.
func known() string {
	var names []string
	for _, l := range printed.All() {
		names = append(names, l.Name)
	}
	for _, s := range specimen.All() {
		names = append(names, s.Name)
	}
	return "one that orwl locks lists, or " + strings.Join(names, ", ")
}
