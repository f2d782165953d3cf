package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// places are the requests of sessions in the queues of resources. It is the Queue of a home, and
// Server.mu guards it.
type places struct {
	names   *names
	all     map[uint64]*place
	granted func(*place)
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

func newPlaces(granted func(*place)) *places {
	return &places{names: newNames(), all: make(map[uint64]*place), granted: granted}
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
		return nil, err
	}
	g := p.grant()
	return &g, nil
}

// wait has a goroutine wait for the grant.
func (ps *places) wait(p *place) {
	ctx, give := context.WithCancel(context.Background())
	p.give, p.waits = give, make(chan struct{})
	ps.group.Go(func() {
		err := p.Acquire(ctx)
		close(p.waits)
		if err == nil {
			ps.granted(p)
		}
	})
}

// holds reports whether the request is still there, once its wait is over.
func (ps *places) holds(p *place) bool { return ps.all[p.id] == p }

// grant is what the session is told.
func (p *place) grant() protocol.Grant {
	return protocol.Grant{Fence: p.kept.fence(p.Fence()), Version: p.Version(), Lost: p.kept.lost}
}

// Withdraw implements protocol.Queue.
func (ps *places) Withdraw(id uint64) {
	p := ps.all[id]
	if p.waits != nil {
		p.give()
		<-p.waits // which is at once
	}
	if p.Held() {
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
	if p.Mode() == queue.Write {
		p.kept.lost = false
	}
	if p.writes {
		b, err := p.room()
		if err != nil {
			return errors.Join(err, p.Abandon(err))
		}
		copy(b, p.written)
		p.kept.size = len(b)
	}
	return p.Place.Release()
}

// room is the memory of the resource, with the size of what is written.
func (p *place) room() ([]byte, error) {
	if err := p.Resize(len(p.written)); err != nil {
		return nil, err
	}
	return p.Writable()
}

// Abandon implements protocol.Queue. What the holder has written is not in the resource yet.
func (ps *places) Abandon(id uint64) {
	p := ps.all[id]
	p.kept.lost = p.kept.lost || p.Mode() == queue.Write
	_ = p.Place.Release() // it holds
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
	return bytes.Clone(b), err
}

// Write implements protocol.Queue.
func (ps *places) Write(id uint64, b []byte) error {
	p := ps.all[id]
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

// mostNames is how many names with bytes a server keeps.
const mostNames = 1 << 16

// names are the resources that are in use, made on demand, and those that have bytes. A lock
// without bytes goes with its last user. So any number of names may come and go.
type names struct {
	all   map[string]*kept
	floor uint64 // below all fences of a resource that is made now
}

// kept is a resource in use. The fences that sessions see begin behind base.
type kept struct {
	r     *queue.Resource
	base  uint64
	last  uint64 // the greatest fence so far
	size  int
	lost  bool // the last writer, with what it wrote
	users int
}

// newNames makes an empty set. Fences begin with the time. So a server
// that starts anew has greater ones than all before: a million grants in each
// millisecond would not reach them.
func newNames() *names {
	return &names{all: make(map[string]*kept), floor: uint64(time.Now().UnixMilli()) << 20}
}

// use returns the resource of a name, for one more user.
func (n *names) use(name string) (*kept, error) {
	k := n.all[name]
	if k == nil {
		var err error
		if k, err = n.find(name); err != nil {
			return nil, err
		}
		n.all[name] = k
	}
	k.users++
	return k, nil
}

func (n *names) find(name string) (*kept, error) {
	if len(n.all) >= mostNames {
		return nil, fmt.Errorf("the server keeps %d names already: write no bytes to those that need none", mostNames)
	}
	r, err := queue.New(name, 0)
	return &kept{r: r, base: n.floor}, err
}

// done says that a user has ended.
func (n *names) done(k *kept) {
	k.users--
	if k.users > 0 || k.size > 0 {
		return
	}
	n.floor = max(n.floor, k.last)
	delete(n.all, k.r.Name())
}

// fence is a fence of the resource as sessions see it.
func (k *kept) fence(f uint64) uint64 {
	k.last = max(k.last, k.base+f)
	return k.base + f
}
