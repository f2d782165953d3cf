package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Group is some flags under a title, in the help of a command. Flags are their names with spaces
// between, the most used first.
type Group struct{ Title, Flags string }

// Old lets a flag have its old name, too, which no help shows.
func Old(f *flag.FlagSet, old, name string) {
	f.Var(f.Lookup(name).Value, old, oldName+name)
}

const oldName = "the old name of -"

// isOld is the present name of a flag, if it is an old one.
func isOld(f *flag.Flag) (name string, old bool) { return strings.CutPrefix(f.Usage, oldName) }

// Given are the flags that the command line has, by their present names.
func Given(f *flag.FlagSet) map[string]bool {
	given := make(map[string]bool)
	f.Visit(func(one *flag.Flag) {
		name, old := isOld(one)
		if !old {
			name = one.Name
		}
		given[name] = true
	})
	return given
}

// listed is a flag for help, completions and the manual.
type listed struct {
	name, value, text string // value is empty for a flag without one
}

// titled are the flags of a group.
type titled struct {
	title string
	flags []listed
}

// restOf is the title of the flags that no group has.
const restOf = "other flags"

// grouped are the flags in their groups. Those that no group has come last.
func grouped(f *flag.FlagSet, groups []Group) (all []titled) {
	had := make(map[string]bool)
	for _, g := range groups {
		t := titled{title: g.Title}
		for _, name := range strings.Fields(g.Flags) {
			if one := f.Lookup(name); one != nil {
				t.flags = append(t.flags, listedOf(one))
				had[name] = true
			}
		}
		all = append(all, t)
	}
	rest := titled{title: restOf}
	if len(groups) == 0 {
		rest.title = "flags"
	}
	f.VisitAll(func(one *flag.Flag) {
		if _, old := isOld(one); !old && !had[one.Name] {
			rest.flags = append(rest.flags, listedOf(one))
		}
	})
	if len(rest.flags) > 0 {
		all = append(all, rest)
	}
	return all
}

func listedOf(one *flag.Flag) listed {
	value, text := about(one)
	if b, is := one.Value.(interface{ IsBoolFlag() bool }); is && b.IsBoolFlag() {
		value = ""
	}
	return listed{one.Name, value, text}
}

// flags are the flags of the command, as its help shows them. The command is asked for its help,
// which defines them.
func (c *Command) flags(program string) []listed { return flat(grouped(c.set(program), c.Groups)) }

func (c *Command) set(program string) *flag.FlagSet {
	f := flag.NewFlagSet(program+" "+c.Name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	_ = c.Run(f, []string{"-h"}, io.Discard) // help is no failure of interest
	return f
}

// flags are the flags of the program without a command.
func (p Program) flags() []listed {
	if p.Flags == nil {
		return nil
	}
	return flat(grouped(p.Flags(), p.Alone.Groups))
}

func flat(groups []titled) (all []listed) {
	for _, g := range groups {
		all = append(all, g.flags...)
	}
	return all
}

// Lint is what is wrong with the program's help, and with its flags beside the flags of other
// programs. page is the page of all of them: see Page.
func (p Program) Lint(page string) (complaints []string) {
	say := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	seen := strangers(p.Name, page)
	look := func(name string, c *Command, f *flag.FlagSet) {
		var help strings.Builder
		c.help(name, c.About, f, &help)
		for line := range strings.Lines(help.String()) {
			if line = strings.TrimSuffix(line, "\n"); len(line) > widest+3 {
				say("%s -h: a line of %d bytes, want less than 100: %s", name, len(line), line)
			}
		}
		if c.Example == "" {
			say("%s -h has no example", name)
		}
		for _, g := range grouped(f, c.Groups) {
			if g.title == restOf || g.title == "flags" && len(c.Groups) == 0 {
				say("%s -h: -%s is in no group: see Command.Groups", name, g.flags[0].name)
			}
		}
		for _, g := range c.Groups {
			for _, flag := range strings.Fields(g.Flags) {
				if f.Lookup(flag) == nil {
					say("%s -h: there is no -%s for the group %q", name, flag, g.Title)
				}
			}
		}
		f.VisitAll(func(one *flag.Flag) {
			if _, old := isOld(one); old {
				return
			}
			text, is := shared[one.Name]
			switch other := seen[one.Name]; {
			case is && !strings.Contains(one.Usage, text):
				say("%s -%s is %q, want it to contain %q, as for others: see shared.go", name, one.Name, one.Usage, text)
			case !is && other != "":
				say("%s and %s both have -%s: give it one meaning in shared.go, or another name", other, name, one.Name)
			}
			seen[one.Name] = name
		})
	}
	if p.Flags != nil {
		alone := p.Alone
		alone.About = p.About
		look(p.Name, &alone, p.Flags())
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		look(p.Name+" "+c.Name, c, c.set(p.Name))
	}
	return complaints
}
