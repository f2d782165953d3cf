package plan

// A plan on several nodes. Another node sends a version of the bytes, or the credit of a reader: the rule
// stands in nodes_test.go. It asks two things of the plan.
//
//   - A task crosses nodes if one of its resources is also used on another node, or has its home there. Such
//     a task has a counter for each access, since each is told to other nodes.
//   - Where readers stand between a write and the writer before it, and this writer is on another node, the
//     nearest conditions lack the writer. The credits of the readers say that it is done. They do not say that
//     its bytes are here.

// Use is an access of a task that has rounds, as other nodes see it.
type Use struct {
	Counter int32
	Node    int32 // of its task
	Writes  bool
}

// nodes is what a plan on several nodes knows beside the conditions. It is nil for one node.
type nodes struct {
	home   []int32  // by resource
	places []uint32 // by resource: where its uses begin; and the end
	uses   []Use
}

func newNodes(p Program) *nodes {
	if p.Homes == nil {
		return nil
	}
	return &nodes{home: p.Homes}
}

// Resources is how many resources the accesses of a plan on several nodes name.
func (p *Plan) Resources() int { return len(p.nodes.home) }

// Home is the node that keeps a resource, in a plan on several nodes.
func (p *Plan) Home(resource int) int { return int(p.nodes.home[resource]) }

// Uses are the accesses of a resource in their start order, in a plan on several nodes. The tasks without
// rounds have none.
func (p *Plan) Uses(resource int) []Use {
	n := p.nodes
	return n.uses[n.places[resource]:n.places[resource+1]]
}

// crossing says which tasks cross nodes: nil on one node.
func (p Program) crossing() []bool {
	if p.Homes == nil {
		return nil
	}
	shared := make([]bool, p.Resources) // some task is not on its home
	for _, a := range p.Accesses {
		if t := p.Tasks[a.Task]; t.Rounds != 0 && t.Node != int(p.Homes[a.Resource]) {
			shared[a.Resource] = true
		}
	}
	crosses := make([]bool, len(p.Tasks))
	for _, a := range p.Accesses {
		crosses[a.Task] = crosses[a.Task] || shared[a.Resource]
	}
	return crosses
}

// keep keeps who uses what.
func (n *nodes) keep(d *draft) {
	if n == nil {
		return
	}
	n.places, n.uses = d.places, make([]Use, len(d.order))
	for i, a := range d.order {
		n.uses[i] = Use{int32(d.counter[a]), int32(d.task(a).Node), d.writes(a)}
	}
}

// elsewhere reports whether two accesses are on different nodes.
func (d *draft) elsewhere(x, y uint32) bool {
	return d.nodes != nil && d.task(x).Node != d.task(y).Node
}
