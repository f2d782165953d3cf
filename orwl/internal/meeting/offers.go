package meeting

import (
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/message"
)

// Offers are what the nodes have offered of a phase, in their order: nil for nodes that were lost.
type Offers []*message.Offer

// ParseOffers reads what [Meeting.Propose] has returned. failure is the first one in them, or
// nil.
func ParseOffers(blobs [][]byte) (all Offers, failure *message.Failure, err error) {
	all = make(Offers, len(blobs))
	for node, b := range blobs {
		if b != nil && failure == nil && err == nil {
			all[node], failure, err = message.ParseOffer(b, len(blobs))
		}
	}
	return all, failure, err
}

// There are the nodes that have proposed the phase, and the names of the machines of all nodes: "" for a node
// that has not, or shares no memory.
func (all Offers) There() (there []int, machines []string) {
	machines = make([]string, len(all))
	for node, o := range all {
		if o != nil {
			there, machines[node] = append(there, node), o.Machine
		}
	}
	return there, machines
}

// Waited reports whether a task has called the phase with its own context.
func (all Offers) Waited() bool {
	return slices.ContainsFunc(all, func(o *message.Offer) bool { return o != nil && o.Waited })
}

// Running returns which tasks of a batch run on each node. It is nil if the batch has ended: a
// phase that some node has dismissed has ended on all.
func (all Offers) Running(number uint64) []message.Running {
	runs := make([]message.Running, len(all))
	for node, o := range all {
		if o == nil {
			continue
		}
		at := find(o, number)
		if at < 0 {
			return nil
		}
		runs[node] = o.Runs[at]
	}
	return runs
}

// Stranger is a node that has come back, and does not know a phase whose tasks run. It is -1 if
// there is none.
func (all Offers) Stranger() int {
	for _, o := range all {
		if o == nil {
			continue
		}
		for _, r := range o.Runs {
			if !r.Any() {
				continue
			}
			if node := all.stranger(r.Number); node >= 0 {
				return node
			}
		}
	}
	return -1
}

// stranger is a node that cannot know a phase, unless some node has dismissed the phase.
func (all Offers) stranger(number uint64) int {
	stranger := -1
	for node, o := range all {
		if o == nil || find(o, number) >= 0 {
			continue
		}
		if number >= o.Knows {
			return -1
		}
		stranger = node
	}
	return stranger
}

// Settle lets the network forget the ends of phases that have ended on all nodes: no proposal of a
// later one names them.
func (m *Meeting) Settle(c *Call, all Offers) {
	if m.o.Nodes == 1 {
		return
	}
	run := make(map[uint64]bool)
	for _, o := range all {
		if o == nil {
			continue
		}
		for _, r := range o.Runs {
			run[r.Number] = true
		}
	}
	m.o.Network.ForgetGathered(func(name string) bool {
		number := numberOf(name)
		return number > 0 && number < c.Number && !run[number]
	})
}

// find is where an offer has a batch, or -1.
func find(o *message.Offer, number uint64) int {
	return slices.IndexFunc(o.Runs, func(r message.Running) bool { return r.Number == number })
}
