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
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/sim/specimen"
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

// lockNames are all locks that orwl-lab sim plays by a name of their own.
func lockNames() (names []string) {
	for _, s := range lab.Locks() {
		names = append(names, s.Name)
	}
	for _, s := range specimen.All() {
		names = append(names, s.Name)
	}
	for _, b := range lockstest.Broken() {
		names = append(names, b.Name)
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
	return "one that orwl locks lists, one that the conformance suite breaks, such as barging, or " + strings.Join(names, ", ")
}
