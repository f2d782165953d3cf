package session

import (
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
)

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
