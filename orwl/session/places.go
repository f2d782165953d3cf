package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// places are the requests of sessions in the queues of resources. It is the Queue of a home, and
// Server.mu guards it.
type places struct {
	names   *names
	nodes   func() []string                                      // nil: there are no others
	tasks   func(match func(resource string) bool) []node.Queued // nil: there are none
	all     map[uint64]*place
	granted func(*place)
	failed  func(*place, error)
	group   sync.WaitGroup
}

// place is one request. While it waits, a goroutine waits for it.
type place struct {
	queue.Place
	id      uint64
	kept    *kept
	give    context.CancelFunc // ends the wait
	waits   chan struct{}      // closed when the wait is over; nil if there was none
	written []byte             // the bytes that Release commits
	writes  bool
}

var _ protocol.Queue = (*places)(nil)

func newPlaces(o ServerOptions, granted func(*place), failed func(*place, error)) *places {
	return &places{names: newNames(o.Lookup), all: make(map[uint64]*place), granted: granted, failed: failed}
}

// Request implements protocol.Queue.
func (ps *places) Request(id uint64, name string, read bool) (*protocol.Grant, error) {
	k, err := ps.names.use(name)
	if err != nil {
		return nil, err
	}
	mode := queue.Write
	if read {
		mode = queue.Read
	}
	p := &place{id: id, kept: k}
	if err := p.Place.Request(k.r, mode); err != nil {
		ps.names.done(k)
		return nil, err
	}
	ps.all[id] = p
	if !p.Granted() {
		ps.wait(p)
		return nil, nil
	}
	if err := p.Acquire(context.Background()); err != nil { // it does not wait
		ps.Withdraw(id)
		return nil, code(err)
	}
	ps.watch(p)
	g := p.grant()
	return &g, nil
}

// Here implements protocol.Queue.
func (ps *places) Here(name string) error { return ps.names.here(name) }

// Nodes implements protocol.Queue.
func (ps *places) Nodes() []string {
	if ps.nodes == nil {
		return nil
	}
	return ps.nodes()
}

// Lines implements protocol.Queue.
func (ps *places) Lines(match func(name string) bool) map[string][]protocol.Entry {
	if ps.tasks == nil {
		return nil
	}
	queues := make(map[string][]seat)
	for _, q := range ps.tasks(match) {
		h := protocol.Holder{Who: q.Task, Node: q.Node, Read: q.Read, Held: q.Granted, For: int64(q.For)}
		queues[q.Resource] = append(queues[q.Resource], seat{protocol.Entry{Task: h}, q.Granted, q.Ticket})
	}
	for id, p := range ps.all {
		if name := p.kept.r.Name(); match(name) {
			s := p.Inspect(p.kept.r)
			queues[name] = append(queues[name], seat{protocol.Entry{ID: id}, s.Granted, s.Ticket})
		}
	}
	lines := make(map[string][]protocol.Entry)
	for name, q := range queues {
		slices.SortStableFunc(q, seat.order)
		for _, s := range q {
			lines[name] = append(lines[name], s.Entry)
		}
	}
	return lines
}

// seat is a request in the queue of a resource.
type seat struct {
	protocol.Entry
	granted bool
	ticket  uint32
}

// order is the order of the queue. Tickets wrap around, so only differences count.
func (s seat) order(other seat) int {
	switch {
	case s.granted == other.granted:
		return int(int32(s.ticket - other.ticket))
	case s.granted:
		return -1
	}
	return 1
}

// wait has a goroutine wait for the grant.
func (ps *places) wait(p *place) {
	ctx, give := context.WithCancel(context.Background())
	p.give, p.waits = give, make(chan struct{})
	ps.group.Go(func() {
		err := p.Acquire(ctx)
		close(p.waits)
		switch {
		case err == nil:
			ps.granted(p)
		case ctx.Err() == nil:
			ps.failed(p, code(err))
		}
	})
}

// holds reports whether the request is still there, once its wait is over. A grant that has come
// is watched from now on.
func (ps *places) holds(p *place) bool {
	if ps.all[p.id] != p {
		return false
	}
	if p.Held() {
		ps.watch(p)
	}
	return true
}

// watch has the home told if the resource breaks while the place holds it.
func (ps *places) watch(p *place) {
	// It holds, so it can watch.
	_ = p.OnLoss(func(why error) {
		ps.group.Go(func() { ps.failed(p, code(why)) })
	})
}

// grant is what the session is told.
func (p *place) grant() protocol.Grant {
	g := protocol.Grant{Fence: p.kept.fence(p.Fence()), Version: p.Version()}
	switch err := p.Prior(); {
	case errors.Is(err, queue.ErrPoisoned):
		g.Prior = priorPoisoned
	case err != nil:
		g.Prior = priorLost
	}
	return g
}

// Withdraw implements protocol.Queue.
func (ps *places) Withdraw(id uint64) {
	p := ps.all[id]
	if p.waits != nil {
		p.give()
		<-p.waits // which is at once
	}
	if p.Held() {
		_ = p.OnLoss(nil)
		_ = p.Place.Release() // it wrote nothing
	} else {
		_ = p.Cancel() // it has requested
	}
	ps.forget(p)
}

// Release implements protocol.Queue.
func (ps *places) Release(id uint64) error {
	p := ps.all[id]
	defer ps.forget(p)
	if p.writes {
		b, err := p.room()
		if err != nil {
			return errors.Join(code(err), p.Abandon(err))
		}
		copy(b, p.written)
		p.kept.size = len(b)
	}
	return code(p.Place.Release())
}

// room is the memory of the resource, with the size of what is written.
func (p *place) room() ([]byte, error) {
	if err := p.Resize(len(p.written)); err != nil {
		return nil, err
	}
	return p.Writable()
}

// Abandon implements protocol.Queue.
func (ps *places) Abandon(id uint64, why string) {
	p := ps.all[id]
	if p.kept.ours && p.Mode() == queue.Write {
		// The next holder is told of the loss only if the place may have written. The resource
		// keeps a copy of its bytes, so none of them changes.
		_, _ = p.Writable()
	}
	_ = p.Place.Abandon(errors.New(why)) // it holds
	ps.forget(p)
}

// Read implements protocol.Queue.
func (ps *places) Read(id uint64) ([]byte, error) {
	p := ps.all[id]
	if p.writes {
		return p.written, nil
	}
	b, err := p.Bytes()
	if len(b) > protocol.MaxBytes {
		return nil, fmt.Errorf("the resource has %d bytes, and a session can read at most %d", len(b), protocol.MaxBytes)
	}
	return bytes.Clone(b), code(err)
}

// Write implements protocol.Queue.
func (ps *places) Write(id uint64, b []byte) error {
	p := ps.all[id]
	if !p.kept.ours && len(b) != p.Size() {
		return fmt.Errorf("the resource has %d bytes, and its size is the run's affair: write as many, not %d", p.Size(), len(b))
	}
	p.writes, p.written = true, b
	return nil
}

// forget ends a place that is idle.
func (ps *places) forget(p *place) {
	delete(ps.all, p.id)
	ps.names.done(p.kept)
}

// close gives everything back, and drops what was written.
func (ps *places) close() {
	for id := range ps.all {
		ps.Withdraw(id)
	}
}

// code gives an error of a resource the name that the protocol has for it.
func code(err error) error {
	if errors.Is(err, queue.ErrBroken) {
		return fmt.Errorf("%w: %w", protocol.ErrBroken, err)
	}
	return err
}
