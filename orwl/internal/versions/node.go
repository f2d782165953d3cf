package versions

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// Options are what a node's part is made of.
type Options struct {
	Run         uint64 // the number of the run: a message of another one is refused
	Node, Nodes int
	Plan        *plan.Plan // the same on all nodes
	// Copies are the copies of the resources here, by the plan's numbers. A resource that this node neither uses
	// nor keeps needs none.
	Copies []Copy
	Most   int // the largest size of a resource in bytes, at most MostBytes, which is what 0 means
}

// Copy is a node's copy of a resource.
type Copy struct {
	Memory
	// Zero says that all bytes are zero. A home then sends none at the start.
	Zero bool
}

// Memory is the bytes of a copy. The step function changes them under the lock of the resource, when no access
// on this node holds it.
type Memory interface {
	Bytes() []byte // good until the next Resize
	Resize(size int) error
	// Came says that so many writes of other nodes are in the bytes now. Idle ones, among them, have changed nothing.
	Came(writes, idle int)
	// Enter is called before the bytes change, and Leave when they are the next version's. Enter waits for
	// nothing that a message brings.
	Enter()
	Leave()
}

// Node is one node's part. Any number of goroutines may call its methods.
type Node struct {
	o         Options
	uses      []use       // by counter
	resources []*resource // by number: nil if this node has no copy, or no other node has one
	listeners []listener  // the nodes that are told of reads here
	boxes     []outbox    // by node
	limits

	absent  atomic.Int64 // copies here that wait for their first version
	writers atomic.Int64 // writers that may still change bytes of resources with a copy here
}

// use is the access of a counter. It is empty if only one node uses the resource: then no node is told.
type use struct {
	resource int32
	position int32 // in the start order, from 1
	node     int32
	writes   bool
	rests    bool   // an access here takes empty turns only
	heard    bool   // a read on another node that an access here waits for
	round    uint32 // of an access here: the last one that was noted
	begin    uint32 // of a read here: its first listener; and the end of the last one
	end      uint32
}

// listener is a node that is told of a read, and the credit there.
type listener struct {
	node   int32
	credit uint32
}

// resource is a copy here. The lock protects all fields that change.
type resource struct {
	number int
	home   int
	uses   []plan.Use // by position - 1
	copy   Copy
	links  []*link // to the nodes that are told of versions, in order: from the home to all others, else to the home

	mu      sync.Mutex
	version Version
	size    int    // of this version
	rests   []bool // by position - 1: it changes no more bytes
	early   []kept // versions that came before their base: nil if none ever did
}

// New makes the part of a node. From here on everything but the bytes of the copies is fixed.
func New(o Options) (*Node, error) {
	p := o.Plan
	if o.Most == 0 {
		o.Most = MostBytes
	}
	if o.Node < 0 || o.Node >= o.Nodes || o.Most > MostBytes || len(o.Copies) != p.Resources() {
		panic(fmt.Sprintf("versions: node %d of %d, %d copies of %d resources, of at most %d bytes", o.Node, o.Nodes, len(o.Copies), p.Resources(), o.Most))
	}
	n := &Node{o: o, uses: make([]use, p.Counters()), resources: make([]*resource, p.Resources()), boxes: make([]outbox, o.Nodes), limits: limits{enoughHeader, MostBytes}}
	waiting := make([][]int32, o.Nodes) // by node: the counters that may wait for other nodes
	for r := range n.resources {
		if err := n.add(r, waiting); err != nil {
			return nil, err
		}
	}
	n.findReaders(waiting)
	return n, nil
}

// add adds a resource.
func (n *Node) add(r int, waiting [][]int32) error {
	uses, home := n.o.Plan.Uses(r), n.o.Plan.Home(r)
	shared, here := false, home == n.o.Node
	for _, u := range uses {
		shared = shared || int(u.Node) != home
		here = here || int(u.Node) == n.o.Node
	}
	if !shared {
		return nil
	}
	if len(uses) > mostUses {
		return fmt.Errorf("%w: resource %d has %d accesses on several nodes, at most %d are possible", ErrLimit, r, len(uses), mostUses)
	}
	for i, u := range uses {
		n.uses[u.Counter] = use{resource: int32(r), position: int32(i + 1), node: u.Node, writes: u.Writes}
		waiting[u.Node] = append(waiting[u.Node], u.Counter)
	}
	if here {
		return n.hold(&resource{number: r, home: home, uses: uses, copy: n.o.Copies[r]})
	}
	return nil
}

// hold adds a resource that has a copy here.
func (n *Node) hold(r *resource) error {
	if r.size = len(r.copy.Bytes()); r.size > n.o.Most {
		return fmt.Errorf("%w: resource %d has %d bytes, at most %d are possible", ErrLimit, r.number, r.size, n.o.Most)
	}
	n.resources[r.number] = r
	n.absent.Add(1)
	others := []int{r.home}
	r.rests = make([]bool, len(r.uses))
	for _, u := range r.uses {
		if u.Writes {
			n.writers.Add(1)
		}
		if r.home == n.o.Node {
			others = append(others, int(u.Node))
		}
	}
	slices.Sort(others)
	for _, to := range slices.Compact(others) {
		if to != n.o.Node {
			n.link(r, to)
		}
	}
	return nil
}

func (n *Node) link(r *resource, to int) {
	r.links = append(r.links, &link{resource: r, to: to, box: &n.boxes[to]})
}

// linkTo is the link of a resource to a node, or nil.
func (r *resource) linkTo(node int) *link {
	i, found := slices.BinarySearchFunc(r.links, node, func(l *link, node int) int { return l.to - node })
	if !found {
		return nil
	}
	return r.links[i]
}

// findReaders finds the nodes that are told of each read here, and the reads elsewhere that are told here. A node
// is told if one of its accesses waits for the read.
func (n *Node) findReaders(waiting [][]int32) {
	here := int32(n.o.Node)
	told := make([]int32, len(n.uses)) // by counter: the last node that is told, counted from 1
	each := func(tell func(read *use, to int32)) {
		clear(told)
		for to, counters := range waiting {
			for _, c := range counters {
				for _, when := range n.o.Plan.When(int(c)) {
					read := &n.uses[when.Counter()]
					switch {
					case read.writes || int(read.node) == to:
					case to == n.o.Node:
						read.heard = true
					case read.node == here && told[when.Counter()] != int32(to+1):
						told[when.Counter()] = int32(to + 1)
						tell(read, int32(to))
					}
				}
			}
		}
	}
	each(func(read *use, _ int32) { read.end++ })
	all := uint32(0)
	for c := range n.uses {
		u := &n.uses[c]
		u.begin, all = all, all+u.end
		u.end = u.begin
	}
	n.listeners = make([]listener, all)
	each(func(read *use, to int32) {
		box := &n.boxes[to]
		n.listeners[read.end] = listener{to, uint32(len(box.credits))}
		read.end++
		box.credits = append(box.credits, credit{})
	})
	for c, u := range n.uses {
		for _, t := range n.listeners[u.begin:u.end] {
			n.boxes[t.node].credits[t.credit].counter = uint32(c)
		}
	}
}
