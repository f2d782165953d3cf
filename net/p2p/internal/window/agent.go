package window

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// agent executes what one node sends by one lane. It is the reader of the lane that
// does so, which must not wait: an Await that does gets a goroutine of its own.
type agent struct {
	*engine.Agent
	f    *Fabric
	peer int
	*awaits
}

// awaits are the Awaits of a node's ranks that are under way here. A rank has one
// at a time.
type awaits struct {
	mu    sync.Mutex
	under map[rma.Rank]*farAwait
}

type farAwait struct {
	number uint64
	cancel context.CancelFunc
}

// Window implements engine.Memory: a rank of another machine for which this node acts has a
// window here, which reaches the memory of this machine.
func (a *agent) Window(origin rma.Rank) rma.Window {
	if uint(origin) >= uint(len(a.f.at)) || a.f.at[origin] != a.peer {
		return nil
	}
	return a.f.acting[origin]
}

// Here implements engine.Memory.
func (a *agent) Here(target rma.Rank) bool { return a.f.near(target) }

// Room implements engine.Memory.
func (a *agent) Room(n int) []byte { return make([]byte, n) }

// Operation executes an operation that has arrived.
func (f *Fabric) Operation(l *lane.Lane, h wire.Head, op *wire.Operation, bulk []byte) error {
	if f.agents == nil {
		return lane.Protocol("%v for windows in shared memory", h.Kind)
	}
	a := f.agents[l.Number()][l.Kind()]
	switch h.Kind {
	case wire.KindAwait:
		return a.await(l, h, op)
	case wire.KindForget:
		a.forgetAwait(op.Origin, op.A)
		return nil
	}
	reply, read, answer, err := a.Step(h.Kind, h.Number, op, bulk)
	if err == nil && answer {
		l.Answer(&reply, read, l.Behind())
	}
	return err
}

// Reply gives an answer that has arrived to the window that waits for it.
func (f *Fabric) Reply(r *wire.Reply, bulk []byte) {
	f.windows[r.Origin].reply(r)
}

// Room is where the bulk of an answer goes.
func (f *Fabric) Room(r *wire.Reply, n int) []byte { return f.windows[r.Origin].room(n) }

// await answers an Await at once if its condition holds, and otherwise when it
// does.
func (a *agent) await(l *lane.Lane, h wire.Head, op *wire.Operation) error {
	reply, _, _, err := a.Step(wire.KindGet, h.Number, op, nil)
	if err != nil {
		return err
	}
	if reply.Status != wire.Done || op.Until().Holds(reply.Value) {
		l.Answer(&reply, nil, l.Behind())
		return nil
	}
	w, err := a.Admit(h.Kind, op)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	if a.under[op.Origin] != nil {
		a.mu.Unlock()
		cancel()
		return fmt.Errorf("%w: rank %d awaits twice at once", engine.ErrOperation, op.Origin)
	}
	a.under[op.Origin] = &farAwait{h.Number, cancel}
	a.mu.Unlock()
	target, disp, until := op.Target, op.Disp, op.Until() // op is the reader's
	go func() {
		defer cancel()
		value, err := w.Await(ctx, target, disp, until)
		reply.Value = value
		switch {
		case err == nil:
		case ctx.Err() != nil && w.Err() == nil:
			reply.Status = wire.Forgotten
		default:
			engine.Fail(&reply, w.Err())
		}
		a.mu.Lock()
		delete(a.under, reply.Origin)
		a.mu.Unlock()
		l.Answer(&reply, nil, false)
	}()
	return nil
}

// forgetAwait ends an Await, unless it has ended.
func (a *agent) forgetAwait(origin rma.Rank, number uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.under[origin]; w != nil && w.number == number {
		w.cancel()
	}
}
