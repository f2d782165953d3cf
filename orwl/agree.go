package orwl

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// All nodes of a run declare one program. Before its first request they compare a digest of it. If it differs, they
// search for the first item that does, by digests of the first items: so a large program takes a few short messages.

// program is the name under which nodes gather what they have declared.
const program = "program"

// agree makes sure that all nodes have declared the same program.
func (rt *Runtime) agree(ctx context.Context) error {
	all, err := rt.programs(ctx, math.MaxInt)
	if err != nil {
		return err
	}
	if agreed(all) {
		return nil
	}
	least := all[0].Items
	for _, p := range all {
		least = min(least, p.Items)
	}
	// All nodes see the same answers, so they ask the same questions.
	first := sort.Search(least, func(i int) bool {
		if err == nil {
			all, err = rt.programs(ctx, i+1)
		}
		return err != nil || !agreed(all)
	})
	if err != nil {
		return err
	}
	return rt.differ(ctx, first)
}

// programs are the first n items of what each node has declared.
func (rt *Runtime) programs(ctx context.Context, n int) ([]message.Program, error) {
	return gatherAll(ctx, rt, program, message.First(rt.items, n).Encode(), message.ParseProgram)
}

// agreed reports whether all nodes have declared the same.
func agreed(all []message.Program) bool {
	for _, p := range all {
		if !p.Same(all[0]) {
			return false
		}
	}
	return true
}

// gatherAll gathers what each node says of its program.
func gatherAll[M any](ctx context.Context, rt *Runtime, name string, mine []byte, parse func([]byte) (M, error)) ([]M, error) {
	said, err := rt.gather(ctx, name, mine)
	if err != nil {
		return nil, err
	}
	all := make([]M, len(said))
	for node, b := range said {
		if b == nil {
			return nil, &NodeError{Node: node, Lost: true, Text: "it was lost before the run began"}
		}
		if all[node], err = parse(b); err != nil {
			return nil, fmt.Errorf("orwl: node %d: %w", node, err)
		}
	}
	return all, nil
}

// differ is the error of a program whose item of a number is not the same on all nodes.
func (rt *Runtime) differ(ctx context.Context, number int) error {
	mine := message.Item{What: "nothing more"}
	i := 0
	for item := range rt.items {
		if i == number {
			mine = item
			break
		}
		i++
	}
	all, err := gatherAll(ctx, rt, program, mine.Encode(), message.ParseItem)
	if err != nil {
		return err
	}
	other := 0
	for other < len(all)-1 && all[other] == all[0] {
		other++
	}
	what, theirs, ours := "", all[other].String(), all[0].String()
	if all[other].What == all[0].What {
		what, theirs, ours = all[0].What+": ", all[other].Is, all[0].Is
	}
	return fmt.Errorf("orwl: node %d has declared another program than node 0: %s%s on node %d, %s on node 0: declare the same resources and tasks, in the same order, on every node, and start all from one build",
		other, what, theirs, other, ours)
}

// items yields all that nodes must have in common. First come the declarations of the program, then the decisions of the runtime.
func (rt *Runtime) items(yield func(message.Item) bool) {
	for item := range rt.declarations {
		if !yield(item) {
			return
		}
	}
	for _, t := range rt.tasks {
		if !yield(message.Item{What: fmt.Sprintf("the placement of task %q", t.name), Is: fmt.Sprintf("node %d", t.on)}) {
			return
		}
	}
	for _, name := range rt.sorted() {
		if !yield(message.Item{What: fmt.Sprintf("the home of resource %q", name), Is: fmt.Sprintf("node %d", rt.homes[name])}) {
			return
		}
	}
}

// declarations yields what the program has declared.
func (rt *Runtime) declarations(yield func(message.Item) bool) {
	for _, name := range rt.sorted() {
		if !yield(message.Item{What: fmt.Sprintf("resource %q", name), Is: rt.resources[name].text()}) {
			return
		}
	}
	for _, t := range rt.tasks {
		if !t.items(yield) {
			return
		}
	}
	for _, e := range rt.until {
		if !yield(message.Item{What: fmt.Sprintf("the end by reduction %q", e.name), Is: fmt.Sprintf("a lag of %d rounds", e.lag)}) {
			return
		}
	}
}

// text is what the program says of a resource.
func (d *declared) text() string {
	is := fmt.Sprintf("%d bytes", d.InitialSize())
	if d.Elements() != nil {
		is += fmt.Sprintf(" of %v", d.Elements())
	}
	if d.snapshots {
		is += ", snapshots"
	}
	return is
}

// items yields what the program says of a task.
func (t *Task) items(yield func(message.Item) bool) bool {
	rounds := "a body of Do"
	switch {
	case t.step != nil && t.step.rounds < 0:
		rounds = "rounds without end"
	case t.step != nil && t.step.rounds == 1:
		rounds = "1 round"
	case t.step != nil:
		rounds = fmt.Sprintf("%d rounds", t.step.rounds)
	}
	if !yield(message.Item{What: fmt.Sprintf("task %q", t.name), Is: rounds}) {
		return false
	}
	for i, a := range t.accesses {
		if !yield(message.Item{What: fmt.Sprintf("access %d of task %q", i+1, t.name), Is: fmt.Sprintf("%s %q", a.mode, a.resource.Name())}) {
			return false
		}
	}
	return yield(message.Item{What: fmt.Sprintf("the end of task %q", t.name)})
}

// Gather returns what each node has said under a name, in their order, as soon as all have: a barrier, too. The program calls it
// on all nodes, between two runs. It is an error if a node is lost, or if the program has ended with an error on another node. The
// program returns that error: its life is over.
func (rt *Runtime) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	n := rt.o.Nodes
	if !n.many() {
		return [][]byte{blob}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.reason.Begin(cancel) // a node that has ended its life gives nothing
	all, err := n.Gather(ctx, "program: "+name, blob)
	if why := n.reason.Why(); why != nil {
		return nil, why
	}
	for node, said := range all {
		if said == nil {
			return nil, &NodeError{Node: node, Lost: true, Text: "it was lost before it could say " + name}
		}
	}
	return all, err
}

// Counts returns what the nodes have counted: see [Nodes.Counts].
func (rt *Runtime) Counts() queue.SiteCounts { return rt.o.Nodes.Counts() }

// Processors is how many processors the nodes use together: GOMAXPROCS of each
// when it joined. Nodes of one machine do not have more than it has. All nodes get the same answer.
// It stays the same in all lives of the run, so a program may cut its work by it.
func (rt *Runtime) Processors() int { return rt.o.Nodes.used() }

// Life is the number of this life of the run, from 1: see [Run].
func (rt *Runtime) Life() int {
	if n := rt.o.Nodes; n != nil && n.survival != nil {
		return int(n.survival.life)
	}
	return 1
}

// cutsEnd says that no cut follows in this life. So SIGTERM ends the process at once, and the others begin the next life without it.
func (n *Nodes) cutsEnd() {
	if n != nil && n.survival != nil {
		n.survival.cuts.Store(false)
	}
}
