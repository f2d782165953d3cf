package window

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/wire"
)

// Machine is all ranks of a run whose nodes are all on one machine: a fabric of
// package shm, in which each node has its ranks. No frame is sent for them. What this
// adds is that nodes are lost, and leave, as everywhere in a run.
type Machine struct {
	*shm.Fabric
	node Node
	at   []int           // the node of each rank
	ctx  context.Context // ends it
	end  context.CancelCauseFunc
}

// dynamicWords bounds what each rank attaches: addresses, not memory.
const dynamicWords = 1 << 27

// options are the options of package shm.
func (m *Machine) options(o Options) shm.Options {
	return shm.Options{Topology: o.Topology, Words: o.Words, DynamicWords: dynamicWords, Context: m.ctx}
}

// newMachineFabric is this node's part of a fabric in shared memory, nil if there can
// be none. Node 0 makes it; the others open it when they know of it.
func newMachineFabric(n Node, o Options, at []int) (*Machine, control.Site) {
	if o.Remote || n.Remote() {
		return nil, control.Site{}
	}
	boot, err := loan.BootID()
	if err != nil {
		return nil, control.Site{}
	}
	s := control.Site{Boot: boot}
	m := &Machine{node: n, at: at}
	m.ctx, m.end = context.WithCancelCause(o.Context)
	if n.Number() != 0 {
		return m, s
	}
	if m.Fabric, err = shm.Create(m.options(o)); err == nil {
		s.Path = m.Path()
		s.File, err = fileID(m.File())
	}
	if err != nil {
		n.Log().Debug("no windows in shared memory", "why", err)
		m.abandon()
		return nil, control.Site{}
	}
	return m, s
}

// open opens the fabric that node 0 has made, if it can be.
func (m *Machine) open(o Options, root control.Site) error {
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(root.Path); err != nil || !strings.HasPrefix(what, "/memfd:") {
		return fmt.Errorf("%s is %q, %v", root.Path, what, err)
	}
	file, err := os.OpenFile(root.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if id, err := fileID(file); err != nil || id != root.File {
		return fmt.Errorf("%s is file %s, not %s: %v", root.Path, id, root.File, err)
	}
	m.Fabric, err = shm.Open(file, m.options(o))
	return err
}

// abandon ends a fabric that is not to be used.
func (m *Machine) abandon() {
	m.end(rma.ErrClosed)
	if m.Fabric != nil {
		_ = m.Fabric.Close() // its error is always nil
	}
}

// meetOnMachine is the fabric in shared memory, once all nodes have it, or nil if one
// of them has not. All has what they said of themselves.
func meetOnMachine(ctx context.Context, n Node, o Options, m *Machine, all []control.Site) (*Machine, error) {
	for _, s := range all {
		if s.Boot == "" || s.Boot != all[0].Boot {
			if m != nil {
				m.abandon()
			}
			return nil, nil // and all others find so, too
		}
	}
	var err error
	if n.Number() != 0 {
		err = m.open(o, all[0])
	}
	word := []byte("open")
	if err != nil {
		n.Log().Debug("no windows in shared memory", "why", err)
		word = nil
	}
	answers, failed := n.Gather(ctx, "fabric on one machine", word)
	if failed != nil {
		m.abandon()
		return nil, failed
	}
	for _, answer := range answers {
		if !bytes.Equal(answer, []byte("open")) {
			m.abandon()
			return nil, nil
		}
	}
	n.Operate(m)
	tellLosses(n, m)
	return m, nil
}

// Window implements rma.Fabric.
func (m *Machine) Window(p rma.Rank) (rma.Window, error) {
	if err := mine(p, m.at, m.node.Number()); err != nil {
		return nil, err
	}
	return m.Fabric.Window(p)
}

// Close implements rma.Fabric.
func (m *Machine) Close() error {
	err := m.Fabric.Close()
	m.end(rma.ErrClosed)
	return err
}

// Operation implements operations: no correct node asks for one here.
func (m *Machine) Operation(_ *lane.Lane, h wire.Head, _ *wire.Operation, _ []byte) error {
	return lane.Protocol("%v for windows in shared memory", h.Kind)
}

// Room implements operations.
func (m *Machine) Room(*wire.Reply, int) []byte { return nil }

// Reply implements operations.
func (m *Machine) Reply(*wire.Reply, []byte) {}

// Lost implements operations.
func (m *Machine) Lost(peer int, why error) {
	if err := lossOf(peer, m.at, why); err != nil {
		m.end(err)
	}
}

// Shut implements operations.
func (m *Machine) Shut() { _ = m.Close() }
