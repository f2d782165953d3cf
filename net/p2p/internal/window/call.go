package window

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// near reports whether an operation is the local window's: memory of this machine, or
// an address that exists nowhere, which that window refuses.
func (w *Window) near(operation string, target rma.Rank, disp rma.Disp, words int) bool {
	if !w.far(target) {
		return true
	}
	if !disp.IsDynamic() && (disp < 0 || disp > w.words || rma.Disp(words) > w.words-disp) {
		panic(&rma.AddressError{Operation: operation, Target: target, Disp: disp, Bytes: 8 * words,
			Why: "outside the symmetric memory"})
	}
	return false
}

// far reports whether a rank is on another machine.
func (w *Window) far(target rma.Rank) bool {
	return uint(target) < uint(len(w.f.on)) && w.f.on[target] != w.f.here
}

// agent is the node that executes this rank's operations on the memory of another.
func (w *Window) agent(target rma.Rank) int { return w.agents[w.f.on[target]] }

// lane is the lane to that node for so many bytes.
func (w *Window) lane(target rma.Rank, bytes int) *lane.Lane {
	return w.f.node.Lane(w.agent(target), kindFor(bytes))
}

// kindFor is the lane for so many bytes.
func kindFor(bytes int) transport.Kind {
	if bytes >= lane.DataFrom {
		return transport.Data
	}
	return transport.Control
}

// tell issues an operation that is not answered, unless it may be refused.
func (w *Window) tell(operation string, k wire.Kind, op wire.Operation, bulk []byte) {
	if op.Disp.IsDynamic() {
		w.ask(operation, k, op, bulk)
		return
	}
	if w.f.failed.Load() {
		return
	}
	op.Origin = w.rank
	node, kind := w.agent(op.Target), kindFor(len(bulk))
	o := &w.open[node]
	if o.lanes == [transport.Kinds]bool{} {
		w.opened = append(w.opened, node)
	}
	o.lanes[kind] = true
	l := w.lane(op.Target, len(bulk))
	if l.Wait(w.f.o.Context) != nil {
		return // the peer is gone, or the fabric's context has ended
	}
	l.Tell(k, &op, bulk)
}

// ask issues an operation and waits for its answer, which is zero if the window
// has failed.
func (w *Window) ask(operation string, k wire.Kind, op wire.Operation, bulk []byte) uint64 {
	op.Origin = w.rank
	w.begin(w.lane(op.Target, max(len(bulk), op.Length)), k, &op, bulk)
	return w.end(operation, &op)
}

// begin issues an operation that is answered, and returns its number.
func (w *Window) begin(l *lane.Lane, k wire.Kind, op *wire.Operation, bulk []byte) (number uint64) {
	w.value.Store(0)
	w.status.Store(uint32(wire.Done))
	w.pending.Store(1)
	if w.f.failed.Load() {
		return 0
	}
	return l.Ask(k, op, bulk)
}

// end waits for the answer to an operation.
func (w *Window) end(operation string, op *wire.Operation) (value uint64) {
	w.wait()
	if w.f.failed.Load() {
		return 0
	}
	switch status := wire.Status(w.status.Load()); status {
	case wire.BadAddress:
		panic(&rma.AddressError{Operation: operation, Target: op.Target, Disp: op.Disp, Bytes: max(8, op.Length),
			Why: "outside every region that is attached now"})
	case wire.Failed, wire.Closed:
		w.f.fail(w.f.failedAt(w.agent(op.Target), status, w.value.Load()))
		return 0
	}
	return w.value.Load()
}

// flush waits until a node has executed everything that it was told.
func (w *Window) flush(node int, target rma.Rank) {
	o := &w.open[node]
	if o.lanes == [transport.Kinds]bool{} {
		return
	}
	w.status.Store(uint32(wire.Done))
	for i, last := 0, len(w.opened)-1; i <= last; i++ {
		if w.opened[i] == node {
			w.opened[i] = w.opened[last]
			w.opened = w.opened[:last]
			break
		}
	}
	open := o.lanes
	o.lanes = [transport.Kinds]bool{}
	if w.f.failed.Load() {
		return
	}
	n := int32(0)
	for _, is := range open {
		if is {
			n++
		}
	}
	w.pending.Store(n)
	op := wire.Operation{Origin: w.rank, Target: target}
	for kind, is := range open {
		if is {
			w.f.node.Lane(node, transport.Kind(kind)).Ask(wire.KindFlush, &op, nil)
		}
	}
	w.end("an operation before Flush", &op)
}

// reply takes the answer to what the window waits for.
func (w *Window) reply(r *wire.Reply) {
	if r.Status != wire.Done {
		w.status.Store(uint32(r.Status))
		w.value.Store(r.Value)
	} else if wire.Status(w.status.Load()) == wire.Done {
		w.value.Store(r.Value)
	}
	w.reading.Store(false)
	if w.pending.Add(-1) == 0 || w.f.failed.Load() {
		w.rouse()
	}
}

// room is where an answer of n bytes goes; nil if the window does not want it any more.
func (w *Window) room(n int) []byte {
	w.reading.Store(true)
	if w.f.failed.Load() || len(w.into) != n {
		w.reading.Store(false)
		return nil
	}
	return w.into
}

// wait returns when all answers are there, or the window has failed.
func (w *Window) wait() {
	for !w.ready() {
		w.place.Park()
	}
}

// ready reports whether there is nothing to wait for. A window that has failed still
// waits for a reader that is about to write to memory of its caller.
func (w *Window) ready() bool {
	return w.pending.Load() == 0 || w.f.failed.Load() && !w.reading.Load()
}

// parked is called when the rank's goroutine sleeps, or is about to.
func (w *Window) parked() {
	w.state.Store(asleep)
	if w.ready() {
		w.rouse()
	}
}

// rouse wakes the rank if it sleeps.
func (w *Window) rouse() {
	if w.state.CompareAndSwap(asleep, awake) {
		w.place.Unpark()
	}
}

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
