package window

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/park"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/wire"
)

// Window is a rank's view of a Fabric over several machines: of the ranks of its machine
// directly, of others by operations that its agents execute there.
//
// An operation without an answer is appended to the log of a lane, and that is
// all. Operations of one millisecond travel together. One with an answer costs a round
// trip, as does the Flush of any number of others. So does an operation on dynamic
// memory, since only its node knows whether it is attached.
type Window struct {
	rma.Shared // for what is on this machine
	f          *Fabric
	rank       rma.Rank
	words      rma.Disp    // of symmetric memory at every rank
	agents     []int       // the node that acts for the rank, by machine
	open       []unflushed // by node
	opened     []int       // nodes with an open lane
	place      park.Place
	state      atomic.Uint32 // awake or asleep
	pending    atomic.Int32  // answers that are to come
	status     atomic.Uint32 // the status of the worst answer
	value      atomic.Uint64 // the value of the last answer
	into       []byte        // where the bulk of an answer goes
	reading    atomic.Bool   // bulk is being read to there
	from       atomic.Int32  // the node that the bulk comes from
}

// unflushed says on which lanes to a node there are operations without an answer.
type unflushed struct{ lanes [transport.Kinds]bool }

// The states of a window.
const (
	awake = iota
	asleep
)

// newWindow is rank p's window, which has a window on the memory of this machine.
func newWindow(f *Fabric, p rma.Rank, local rma.Window) *Window {
	w := &Window{
		Shared: local.(rma.Shared), f: f, rank: p, words: rma.Disp(f.o.Words),
		agents: make([]int, len(f.machines)), open: make([]unflushed, f.node.Nodes()),
	}
	for m, nodes := range f.machines {
		if len(nodes) > 0 {
			w.agents[m] = f.agent(p, m)
		}
	}
	w.place.Init(w.parked)
	return w
}

// Put implements rma.Window.
func (w *Window) Put(target rma.Rank, disp rma.Disp, value uint64) {
	if w.near("Put", target, disp, 1) {
		w.Shared.Put(target, disp, value)
		return
	}
	w.tell("Put", wire.KindPut, wire.Operation{Target: target, Disp: disp, A: value}, nil)
}

// Accumulate implements rma.Window.
func (w *Window) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	if w.near("Accumulate", target, disp, 1) {
		w.Shared.Accumulate(target, disp, op, operand)
		return
	}
	w.tell("Accumulate", wire.KindAccumulate, wire.Operation{Target: target, Disp: disp, A: operand, B: uint64(op)}, nil)
}

// Get implements rma.Window.
func (w *Window) Get(target rma.Rank, disp rma.Disp) uint64 {
	if w.near("Get", target, disp, 1) {
		return w.Shared.Get(target, disp)
	}
	return w.ask("Get", wire.KindGet, wire.Operation{Target: target, Disp: disp}, nil)
}

// FetchOp implements rma.Window.
func (w *Window) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	if w.near("FetchOp", target, disp, 1) {
		return w.Shared.FetchOp(target, disp, op, operand)
	}
	return w.ask("FetchOp", wire.KindFetchOp, wire.Operation{Target: target, Disp: disp, A: operand, B: uint64(op)}, nil)
}

// CAS implements rma.Window.
func (w *Window) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	if w.near("CAS", target, disp, 1) {
		return w.Shared.CAS(target, disp, old, new)
	}
	return w.ask("CAS", wire.KindCAS, wire.Operation{Target: target, Disp: disp, A: old, B: new}, nil)
}

// PutBytes implements rma.Window.
func (w *Window) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	if w.near("PutBytes", target, disp, len(src)/8) || len(src)%8 != 0 {
		w.Shared.PutBytes(target, disp, src)
		return
	}
	if len(src) >= lane.DataFrom {
		src = append([]byte(nil), src...) // the log keeps it, and the caller may change it
	}
	w.tell("PutBytes", wire.KindPutBytes, wire.Operation{Target: target, Disp: disp}, src)
}

// GetBytes implements rma.Window.
func (w *Window) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	if w.near("GetBytes", target, disp, len(dst)/8) || len(dst)%8 != 0 {
		w.Shared.GetBytes(target, disp, dst)
		return
	}
	w.into = dst
	w.from.Store(int32(w.agent(target)))
	w.ask("GetBytes", wire.KindGetBytes, wire.Operation{Target: target, Disp: disp, Length: len(dst)}, nil)
	if w.f.failed.Load() {
		clear(dst)
	}
}

// Flush implements rma.Window.
func (w *Window) Flush(target rma.Rank) {
	if uint(target) >= uint(len(w.f.at)) {
		w.Shared.Flush(target) // it refuses the rank
		return
	}
	w.flush(w.agent(target), target)
}

// FlushAll implements rma.Window.
func (w *Window) FlushAll() {
	for len(w.opened) > 0 {
		node := w.opened[len(w.opened)-1]
		w.flush(node, w.f.first(node))
	}
}

// Await implements rma.Window. If ctx ends, the rank's node has to confirm that
// it no longer waits.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	if w.near("Await", target, disp, 1) {
		return w.Shared.Await(ctx, target, disp, until)
	}
	op := wire.Operation{Origin: w.rank, Target: target, Disp: disp, A: until.Value, B: until.Mask, C: uint64(until.Rel)}
	l := w.lane(target, 0)
	number := w.begin(l, wire.KindAwait, &op, nil)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() {
			l.Tell(wire.KindForget, &wire.Operation{Origin: w.rank, Target: target, A: number}, nil)
		})
		defer stop()
	}
	value := w.end("Await", &op)
	if err := w.Err(); err != nil {
		return 0, err
	}
	if wire.Status(w.status.Load()) == wire.Forgotten {
		return 0, ctx.Err()
	}
	return value, nil
}

// Direct implements rma.Shared.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	if w.far(target) {
		return rma.Word{}, false
	}
	return w.Shared.Direct(target, disp)
}

// Memory implements rma.Shared.
func (w *Window) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	if w.far(target) {
		return nil, false
	}
	return w.Shared.Memory(target, disp, n)
}

// Notify implements rma.Shared.
func (w *Window) Notify(target rma.Rank, disp rma.Disp) {
	if !w.far(target) {
		w.Shared.Notify(target, disp)
	}
}

// Failed implements rma.Shared.
func (w *Window) Failed() *atomic.Bool { return &w.f.failed }

// Attach implements rma.Window.
func (w *Window) Attach(words int) (rma.Region, error) {
	if err := w.Err(); err != nil {
		return rma.Region{}, err
	}
	return w.Shared.Attach(words)
}

// Err implements rma.Window.
func (w *Window) Err() error { return w.f.failure() }

// layout says which nodes share memory. A machine here is the nodes that do: a node that
// shares none with others, or has no ranks, is a machine of its own.
//
//	machine 0                    machine 1
//	┌──────────────────────┐     ┌──────────────────────┐
//	│ node 0   node 1      │     │ node 2   node 3      │
//	│ rank 0   rank 1      │     │ rank 2   rank 3      │
//	│ (rank 2) (rank 3)    │     │ (rank 0) (rank 1)    │
//	└──────────────────────┘     └──────────────────────┘
//
// One node of a machine, the agent, acts there for a rank of another machine: for rank 2
// above that is node 0. It executes all operations of the rank on any memory of the machine,
// so a word is only ever changed by processors of its own machine, and the rank waits in one
// place there.
//
// All nodes make the same layout.
type layout struct {
	at       []int   // the node of each rank
	machine  []int   // the machine of each node
	on       []int   // the machine of each rank
	machines [][]int // the nodes of each machine, if they have ranks
}

// newLayout is the layout of ranks at these nodes. Nodes whose machines have the same name
// share memory, unless the name is empty.
func newLayout(at []int, names []string) layout {
	l := layout{at: at, machine: make([]int, len(names)), on: make([]int, len(at))}
	first := make(map[string]int) // machine
	for node, name := range names {
		ranks := slices.Contains(at, node)
		m, known := first[name]
		if !known || name == "" || !ranks {
			m = len(l.machines)
			l.machines = append(l.machines, nil)
			if ranks {
				first[name] = m
			}
		}
		l.machine[node] = m
		if ranks {
			l.machines[m] = append(l.machines[m], node)
		}
	}
	for p, node := range at {
		l.on[p] = l.machine[node]
	}
	return l
}

// shares reports whether any nodes share memory.
func (l *layout) shares() bool {
	return slices.ContainsFunc(l.machines, func(nodes []int) bool { return len(nodes) > 1 })
}

// whole reports whether all ranks are on one machine, so that no operation is a frame.
func (l *layout) whole() bool {
	return !slices.ContainsFunc(l.on, func(m int) bool { return m != l.on[0] })
}

// neighbours are the nodes with ranks that share memory with a node, and the node itself.
func (l *layout) neighbours(node int) []int { return l.machines[l.machine[node]] }

// agent is the node of a machine that acts there for a rank. On the rank's own machine that
// is the node of the rank.
func (l *layout) agent(p rma.Rank, machine int) int {
	if l.on[p] == machine {
		return l.at[p]
	}
	nodes := l.machines[machine]
	return nodes[int(p)%len(nodes)]
}

// Several nodes share memory on one machine: one of them creates it, and the others join it when
// they know of it.

// dynamicWords bounds what each rank attaches: addresses, not memory.
const dynamicWords = 1 << 27

// shared are the options of package shm. A process that is lost is the failure of the whole
// fabric. Package shm asks for ranks while the fabric may still get another layout, in which
// this machine has the same ranks, or does not share memory after all.
func (f *Fabric) shared() shm.Options {
	on, here := f.on, f.here
	return shm.Options{
		Topology: f.o.Topology, Words: f.o.Words, DynamicWords: dynamicWords,
		Here: func(p rma.Rank) bool { return on[p] == here }, Lost: f.fail,
	}
}

// create makes memory for this machine, and says where it is.
func (f *Fabric) create() (*shm.Fabric, control.Place, error) {
	m, err := shm.Create(f.shared())
	if err != nil {
		return nil, control.Place{}, err
	}
	file, err := fileID(m.File())
	if err != nil {
		_ = m.Close() // its error is always nil
		return nil, control.Place{}, err
	}
	return m, control.Place{Path: m.Path(), File: file}, nil
}

// join opens the memory that another node of this machine has made, if it can be.
func (f *Fabric) join(at control.Place) (*shm.Fabric, error) {
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(at.Path); err != nil || !strings.HasPrefix(what, "/memfd:") {
		return nil, fmt.Errorf("%s is %q, %v", at.Path, what, err)
	}
	file, err := os.OpenFile(at.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if id, err := fileID(file); err != nil || id != at.File {
		return nil, fmt.Errorf("%s is file %s, not %s: %v", at.Path, id, at.File, err)
	}
	return shm.Open(file, f.shared())
}
