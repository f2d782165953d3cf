package p2p

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/wire"
)

// machineFabric is all ranks of a run whose nodes are all on one machine: a fabric of
// package shm, of which each node has its ranks. No frame is sent for them. What this
// adds is that nodes are lost, and leave, as everywhere in a run.
type machineFabric struct {
	*shm.Fabric
	node *Node
	at   []int           // the node of each rank
	ctx  context.Context // ends it
	end  context.CancelCauseFunc
}

// dynamicWords bounds what each rank attaches: addresses, not memory.
const dynamicWords = 1 << 27

// site is what a node says of itself, so that all find out whether they are on one
// machine; empty but for the plan if it wants no such thing.
type site struct {
	plan string // what fabric it makes
	boot string // of its machine
	path string // of the fabric that node 0 has made
	file string // and which file that is
}

func (s site) append() []byte {
	b := wire.AppendString(wire.AppendArray(nil, 4), s.plan)
	return wire.AppendString(wire.AppendString(wire.AppendString(b, s.boot), s.path), s.file)
}

func parseSite(b []byte) (site, error) {
	r := wire.NewReader(b)
	r.Array()
	s := site{plan: r.String(), boot: r.String(), path: r.String(), file: r.String()}
	return s, r.Done()
}

// options are those of the fabric in shared memory.
func (m *machineFabric) options(o FabricOptions) shm.Options {
	return shm.Options{Topology: o.Topology, Words: o.Words, DynamicWords: dynamicWords, Context: m.ctx}
}

// newMachineFabric is this node's part of a fabric in shared memory, nil if there can
// be none. Node 0 makes it; the others open it when they know of it.
func (n *Node) newMachineFabric(o FabricOptions, at []int) (*machineFabric, site) {
	if o.Remote || n.options.Remote {
		return nil, site{}
	}
	boot, err := loan.BootID()
	if err != nil {
		return nil, site{}
	}
	s := site{boot: boot}
	m := &machineFabric{node: n, at: at}
	m.ctx, m.end = context.WithCancelCause(o.Context)
	if n.number != 0 {
		return m, s
	}
	if m.Fabric, err = shm.Create(m.options(o)); err == nil {
		s.path = m.Path()
		s.file, err = fileID(m.File())
	}
	if err != nil {
		n.log.Debug("no windows in shared memory", "why", err)
		m.abandon()
		return nil, site{}
	}
	return m, s
}

// open opens the fabric that node 0 has made, if it can be.
func (m *machineFabric) open(o FabricOptions, root site) error {
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(root.path); err != nil || !strings.HasPrefix(what, "/memfd:") {
		return fmt.Errorf("%s is %q, %v", root.path, what, err)
	}
	file, err := os.OpenFile(root.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if id, err := fileID(file); err != nil || id != root.file {
		return fmt.Errorf("%s is file %s, not %s: %v", root.path, id, root.file, err)
	}
	m.Fabric, err = shm.Open(file, m.options(o))
	return err
}

// abandon ends a fabric that is not to be used.
func (m *machineFabric) abandon() {
	m.end(rma.ErrClosed)
	if m.Fabric != nil {
		_ = m.Fabric.Close() // its error is always nil
	}
}

// meetOnMachine is the fabric in shared memory, once all nodes have it, or nil if one
// of them has not. What all have said of themselves is gathered already.
func (n *Node) meetOnMachine(ctx context.Context, o FabricOptions, m *machineFabric, all []site) (*machineFabric, error) {
	for _, s := range all {
		if s.boot == "" || s.boot != all[0].boot {
			if m != nil {
				m.abandon()
			}
			return nil, nil // and all others find so, too
		}
	}
	var err error
	if n.number != 0 {
		err = m.open(o, all[0])
	}
	word := []byte("open")
	if err != nil {
		n.log.Debug("no windows in shared memory", "why", err)
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
	n.operate(m)
	n.tellLosses(m)
	return m, nil
}

// Window implements rma.Fabric.
func (m *machineFabric) Window(p rma.Rank) (rma.Window, error) {
	if err := mine(p, m.at, m.node.number); err != nil {
		return nil, err
	}
	return m.Fabric.Window(p)
}

// Close implements rma.Fabric.
func (m *machineFabric) Close() error {
	err := m.Fabric.Close()
	m.end(rma.ErrClosed)
	return err
}

// Operation implements operations: here nobody has any business to ask for one.
func (m *machineFabric) Operation(_ *lane.Lane, h wire.Head, _ *wire.Operation, _ []byte) error {
	return protocolError("%v for windows in shared memory", h.Kind)
}

// Room implements operations.
func (m *machineFabric) Room(*wire.Reply, int) []byte { return nil }

// Reply implements operations.
func (m *machineFabric) Reply(*wire.Reply, []byte) {}

// Lost implements operations.
func (m *machineFabric) Lost(peer int, why error) {
	if err := lossOf(peer, m.at, why); err != nil {
		m.end(err)
	}
}

// Shut implements operations.
func (m *machineFabric) Shut() { _ = m.Close() }
