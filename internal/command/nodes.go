package command

import (
	"flag"

	"github.com/orwl/go-orwl/orwl/launch"
)

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
