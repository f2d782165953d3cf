package command

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/orwl/go-orwl/orwl/launch"
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
				say("%s -%s is %q, want it to contain %q, as for others: see flags.go", name, one.Name, one.Usage, text)
			case !is && other != "":
				say("%s and %s both have -%s: give it one meaning in flags.go, or another name", other, name, one.Name)
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

// shared are the flags that several commands have, with their help.
// A name has one meaning, and its value one form. A command may add text before or behind.
var shared = map[string]string{
	// where, and with which other processes
	"nodes":   "`N` nodes",
	"ssh":     "the nodes run on the hosts `HOST,HOST`, node[1-4] for four, which ssh reaches without a question",
	"join":    "be one of `N` processes on this network that find each other; all have the same ORWL_KEY_FILE and the same flags",
	"listen":  "listen at `HOST:PORT`",
	"at":      "the server, or any of several, is at `HOST:PORT,...`",
	"find":    "sessions find the server on this network by the key, without an address; all have the same ORWL_KEY_FILE",
	"metrics": "serve metrics for Prometheus, profiles and the run's state at `HOST:PORT`, node i at PORT+i; beyond this machine only in a run with a cluster key",
	// output
	"json": "print JSON and nothing else",
	"csv":  "print CSV with a header and nothing else",
	"out":  "write the result",
	"html": "to `FILE`, too",
	"why":  "say why each task is where it is",
	// machines and ranks
	"topology": "`LEVEL:N ...` from coarse to fine, the last one counting ranks",
	"machine":  "the `MACHINE` of virtual time",
	"ranks":    "`N` ranks",
	"window":   "where ranks run: `NAME` is mem (goroutines), shm (processes), p2p (nodes that exchange frames)",
	// contests
	"lock":      "the lock `NAME`",
	"bench":     "the benchmarks: `NAME,...`, patterns, or all",
	"fw":        "F_W, the share of accesses that write, in percent: `P,...`",
	"vary":      "the parameter that a benchmark varies",
	"inside":    "more work while a rank holds the lock: `TIME,...`",
	"outside":   "more work after each release: `TIME,...`",
	"time":      "one repeat takes a `TIME`",
	"turns":     "count `N` iterations of each rank, instead of a time",
	"repeats":   "play each case `N` times; the median counts",
	"seed":      "the seed `N`",
	"unchecked": "do not check exclusion",
	"uncounted": "do not count remote operations",
	"kernel":    "the kernel `NAME`",
	"llk23":     "llk23 is the `PROGRAM`: a path, or a name that PATH knows after go install ./apps/llk23 in the root",
	// options of locks
	"tl":        "the thresholds T_L,i of a lock with levels, from coarse to fine: `N,N,...`",
	"tdc":       "T_DC of RMA-RW: every `N`-th rank keeps a counter of readers",
	"tr":        "T_R of RMA-RW: `N` readers in a row at a counter while a writer waits",
	"tw":        "T_W of RMA-RW: `N` writers in a row while readers wait",
	"step-back": "a reader of RMA-RW that is kept out steps back once, and writers need not queue up",
}

// Usage is the help of a flag that several commands have, and what this command adds.
func Usage(name, more string) string {
	text, is := shared[name]
	if !is {
		panic("command: no flag -" + name + " that several commands have") // a mistake of ours
	}
	return text + more
}

// Nodes are the flags by which a program runs as several nodes: -nodes, -ssh and -join.
type Nodes struct {
	Nodes, Join int    // 0: not given
	SSH         string // a list of hosts, or empty
}

// Define defines the flags. The help of -nodes is nodes.
func (n *Nodes) Define(f *flag.FlagSet, most, mostJoin int, nodes string) {
	f.Var(Count(&n.Nodes, most), "nodes", nodes+"; in a run that something else has started, as many as that has, or not given")
	f.Var(Hosts(&n.SSH), "ssh", Usage("ssh", ", and where this program and this folder have the same path"))
	f.Var(Count(&n.Join, mostJoin), "join", Usage("join", ""))
}

// Hosts are the hosts of -ssh, or nil.
func (n *Nodes) Hosts() []string {
	hosts, _ := launch.ParseHosts(n.SSH) // was read before, or is empty
	return hosts
}

// Place is the process's place in the run, by the flags and the environment. With -ssh and without -nodes, each
// host has a node.
func (n *Nodes) Place() (p launch.Place, err error) {
	if n.Nodes > 0 && n.Join > 0 {
		return p, Misusef("-nodes is %d and -join %d: want one of them", n.Nodes, n.Join)
	}
	hosts := len(n.Hosts())
	if n.Nodes == 0 {
		n.Nodes = hosts
	}
	if n.Nodes < hosts {
		return p, Misusef("-nodes is %d, want at least %d, as many as -ssh names hosts", n.Nodes, hosts)
	}
	if n.Join > 0 {
		p, err = launch.Joining(n.Join)
	} else {
		p, err = launch.FromEnvironment()
	}
	if err != nil {
		return p, err
	}
	return p, n.suits(p)
}

// suits checks that the flags and the launcher say the same.
func (n *Nodes) suits(p launch.Place) error {
	switch {
	case p.Nodes <= 1:
	case n.SSH != "" && !p.How.BySpawn():
		return Misusef("-ssh is %q, want none, since this is %v, which something else has started", n.SSH, p)
	case n.Nodes != 0 && n.Nodes != p.Nodes:
		return Misusef("-nodes is %d, want %d, or no -nodes, since this is %v", n.Nodes, p.Nodes, p)
	}
	return nil
}

// Spawns says that the process in this place starts the nodes, and does nothing else.
func (n *Nodes) Spawns(p launch.Place) bool {
	return (n.Nodes > 1 || n.SSH != "") && p.Nodes <= 1 && !p.How.BySpawn()
}
