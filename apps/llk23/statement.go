package main

import (
	"runtime"
	"time"

	"github.com/orwl/go-orwl/orwl/trace"
)

// statement is what a node has to say of its part in a run. Times are by the node's
// clock, which began with the run.
type statement struct {
	Machine    string        // nodes with the same have one monotonic clock; "" with none
	Begin      time.Duration // by that, when the node's clock began
	Processors int           // that Go uses
	Took       time.Duration
	Shipped    int64     // bytes of contents that have come from other nodes
	Accounts   []account // of the node's parts
}

// account is how a block has spent the time, and what it has read.
type account struct {
	Spent [phases]time.Duration
	Tally tally
}

// statement is this node's, once its actors have ended.
func (f *field) statement() statement {
	s := statement{Processors: runtime.GOMAXPROCS(0), Took: f.ended(), Shipped: int64(f.nodes.Counts().BytesIn)}
	s.Machine, s.Begin = trace.Zero(func() time.Duration { return time.Since(f.begin) })
	for p := range f.here() {
		s.Accounts = append(s.Accounts, account{p.watch.spent, p.tally})
	}
	return s
}

// leads are how much later than the first of them each node has begun. Of other machines
// than node 0's nothing is known but that a message made all begin: they are taken to have
// begun together with node 0, and are wrong by what it took to get there.
func leads(all []statement) []time.Duration {
	first := time.Duration(0)
	leads := make([]time.Duration, len(all))
	for node, s := range all {
		if s.Machine != "" && s.Machine == all[0].Machine {
			leads[node] = s.Begin - all[0].Begin
		}
		first = min(first, leads[node])
	}
	for node := range leads {
		leads[node] -= first
	}
	return leads
}

// settle makes of what all nodes have said what the field's own parts and tasks
// would have, if they were all here: times are by one clock, from when the first
// node has begun until the last has ended.
func (f *field) settle(all []statement) *measured {
	done := &measured{field: f}
	leads := leads(all)
	for node, s := range all {
		done.took = max(done.took, leads[node]+s.Took)
		done.shipped += s.Shipped
		done.processors += s.Processors
	}
	for node, s := range all {
		for p := range f.of(node) {
			p.watch.spent, p.tally = s.Accounts[0].Spent, s.Accounts[0].Tally
			p.watch.spent[outside] += done.took - s.Took
			s.Accounts = s.Accounts[1:]
		}
	}
	return done
}
