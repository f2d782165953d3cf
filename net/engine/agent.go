package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// Agent executes the operations that a node's ranks have issued to another node's
// memory, in the order in which they arrive on one lane. It is used by one
// goroutine at a time.
//
// Operations that were issued before a Flush on the same lane are therefore complete when the
// Flush is executed, and a Flush does nothing but answer.
type Agent struct {
	memory Memory
	wrong  map[rma.Rank]bool // ranks with an operation that named no memory, since their last Flush
}

// ErrOperation is an operation that no correct node sends: the stream cannot be
// trusted any more.
var ErrOperation = errors.New("engine: operation makes no sense")

// Memory is what an Agent works on.
type Memory interface {
	// Window is the view of an origin on the memory here, nil for a rank that is
	// not one of the peer's.
	Window(origin rma.Rank) rma.Window
	// Here reports whether a rank's memory is.
	Here(target rma.Rank) bool
	// Room is where what GetBytes reads is put: as much as the memory that was asked
	// for has, at most.
	Room(n int) []byte
}

// NewAgent executes one peer's operations.
func NewAgent(m Memory) *Agent { return &Agent{memory: m, wrong: make(map[rma.Rank]bool)} }

// Step executes an operation and reports whether to answer it, and by what. It refuses Await
// and Forget, which take time: the caller calls Admit and executes those.
func (a *Agent) Step(k wire.Kind, number uint64, op *wire.Operation, bulk []byte) (reply wire.Reply, read []byte, answer bool, err error) {
	w, err := a.Admit(k, op)
	if err != nil {
		return reply, nil, false, err
	}
	reply = wire.Reply{Origin: op.Origin, Call: number}
	// Only here it is known whether dynamic memory is attached.
	answer = op.Disp.IsDynamic() || k != wire.KindPut && k != wire.KindAccumulate && k != wire.KindPutBytes
	defer func() {
		switch value := recover().(type) {
		case nil:
		case *rma.AddressError:
			reply.Status, read = wire.BadAddress, nil
			if !answer {
				a.wrong[op.Origin] = true
			}
		default:
			panic(value)
		}
	}()
	if w.Err() != nil {
		Fail(&reply, w.Err())
		return reply, nil, answer, nil
	}
	switch k {
	case wire.KindFlush:
		if a.wrong[op.Origin] {
			delete(a.wrong, op.Origin)
			reply.Status = wire.BadAddress
		}
	case wire.KindPut:
		w.Put(op.Target, op.Disp, op.A)
	case wire.KindAccumulate:
		w.Accumulate(op.Target, op.Disp, rma.Op(op.B), op.A)
	case wire.KindFetchOp:
		reply.Value = w.FetchOp(op.Target, op.Disp, rma.Op(op.B), op.A)
	case wire.KindCAS:
		reply.Value = w.CAS(op.Target, op.Disp, op.A, op.B)
	case wire.KindGet:
		reply.Value = w.Get(op.Target, op.Disp)
	case wire.KindPutBytes:
		w.PutBytes(op.Target, op.Disp, bulk)
	case wire.KindGetBytes:
		if words := op.Length / 8; words > 0 { // no room for what is not there
			w.Get(op.Target, op.Disp)
			w.Get(op.Target, op.Disp+rma.Disp(words-1))
		}
		read = a.memory.Room(op.Length)
		w.GetBytes(op.Target, op.Disp, read)
	default:
		return reply, nil, false, fmt.Errorf("%w: %v", ErrOperation, k)
	}
	return reply, read, answer, nil
}

// Fail makes a reply say why the window here has failed.
func Fail(reply *wire.Reply, why error) {
	reply.Status, reply.Value = wire.Closed, 0
	var lost *rma.PeerLostError
	if !errors.As(why, &lost) {
		return
	}
	reply.Value = uint64(lost.Rank) + 1
	if !errors.Is(why, rma.ErrClosed) {
		reply.Status = wire.Failed
	}
}

// Admit returns the window for an operation, if the operation makes sense.
func (a *Agent) Admit(k wire.Kind, op *wire.Operation) (rma.Window, error) {
	w := a.memory.Window(op.Origin)
	switch {
	case w == nil:
		return nil, fmt.Errorf("%w: %v by rank %d, which is not of the node that sends it", ErrOperation, k, op.Origin)
	case !a.memory.Here(op.Target):
		return nil, fmt.Errorf("%w: %v at rank %d, which is not of this node", ErrOperation, k, op.Target)
	case (k == wire.KindFetchOp || k == wire.KindAccumulate) && op.B > uint64(rma.NoOp),
		k == wire.KindAwait && op.C > uint64(rma.GreaterOrEqual):
		return nil, fmt.Errorf("%w: %v with %d, %d", ErrOperation, k, op.B, op.C)
	}
	return w, nil
}

// Calls are the operations of a node's ranks, on one lane, that wait for their
// answers. A rank has at most one, since its window is used by one goroutine. The
// answer to any other is not one: it came twice, or is made up.
//
// The ranks of a node are mostly neighbours, so a list from the first that has asked to
// the last does, and takes a tenth of the time of a map.
type Calls struct {
	first rma.Rank
	waits []uint64 // the frames' numbers, 0 for a call that does not wait
}

// Expect says that a rank waits for the answer to the frame of a number.
func (c *Calls) Expect(p rma.Rank, number uint64) {
	switch n := rma.Rank(len(c.waits)); {
	case n == 0:
		c.first, c.waits = p, append(c.waits, 0)
	case p < c.first:
		c.waits = slices.Insert(c.waits, 0, make([]uint64, c.first-p)...)
		c.first = p
	case p-c.first >= n:
		c.waits = append(c.waits, make([]uint64, p-c.first-n+1)...)
	}
	c.waits[p-c.first] = number
}

// Answered reports whether the reply is what its rank waits for, which then no
// longer waits.
func (c *Calls) Answered(r *wire.Reply) bool {
	at := r.Origin - c.first
	if at < 0 || int(at) >= len(c.waits) || r.Call == 0 || c.waits[at] != r.Call {
		return false
	}
	c.waits[at] = 0
	return true
}
