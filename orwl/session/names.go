package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
	"github.com/orwl/go-orwl/resource"
)

// mostNames is how many names with bytes a server keeps.
const mostNames = 1 << 16

// names are the resources that are in use, and those made on demand that have bytes. A lock
// without bytes goes with its last user. So any number of names may come and go.
type names struct {
	lookup func(name string) (*resource.Resource, error) // nil: they are made on demand
	all    map[string]*kept
	floor  uint64 // below all fences of a resource that is made now
}

// kept is a resource in use. The fences that sessions see begin behind base.
type kept struct {
	r     *queue.Resource
	ours  bool // made on demand
	base  uint64
	last  uint64 // the greatest fence so far
	size  int
	users int
}

// newNames makes an empty set. Fences of resources made on demand begin with the time. So a server
// that starts anew has greater ones than all before: a million grants in each
// millisecond would not reach them.
func newNames(lookup func(name string) (*resource.Resource, error)) *names {
	return &names{lookup: lookup, all: make(map[string]*kept), floor: uint64(time.Now().UnixMilli()) << 20}
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
	if n.lookup != nil {
		r, err := n.look(name)
		return &kept{r: r}, err
	}
	if len(n.all) >= mostNames {
		return nil, fmt.Errorf("the server keeps %d names already: write no bytes to those that need none", mostNames)
	}
	r, err := queue.NewWith(name, 0, queue.Options{Undo: true})
	return &kept{r: r, ours: true, base: n.floor}, err
}

// look finds a resource that is there. The error is one that the protocol has a code for.
func (n *names) look(name string) (*queue.Resource, error) {
	r, err := n.lookup(name)
	var elsewhere *protocol.ElsewhereError
	if err == nil || errors.As(err, &elsewhere) || errors.Is(err, protocol.ErrBroken) {
		return (*queue.Resource)(r), err
	}
	return nil, fmt.Errorf("%w: %w", protocol.ErrUnknown, err)
}

// here is why no session can use a name, or nil.
func (n *names) here(name string) error {
	if n.lookup == nil {
		return nil
	}
	_, err := n.look(name)
	return err
}

// done says that a user has ended.
func (n *names) done(k *kept) {
	k.users--
	if k.users > 0 || k.ours && k.size > 0 {
		return
	}
	if k.ours {
		n.floor = max(n.floor, k.last)
	}
	delete(n.all, k.r.Name())
}

// fence is a fence of the resource as sessions see it.
func (k *kept) fence(f uint64) uint64 {
	k.last = max(k.last, k.base+f)
	return k.base + f
}
