package queue

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// Site is a node's part in the resources of a run. It holds the resources that have their
// home here, and mirrors of the resources that have it elsewhere. A place sees no
// difference between the two except the time.
//
//	Place ─▶ mirror ─▶ Transport ═══ another node ═══▶ Deliver ─▶ home ─▶ queue
//
// All of its methods may be called by several goroutines at a time. Messages of one
// resource may overtake one another on the way: they are put in their order again. A
// resource that is declared here later than elsewhere finds the messages that came
// for it meanwhile.
//
// # When nodes are lost
//
// Away ends what this node's places have requested, or hold, of resources with their
// home on a node: Acquire and Release return an error that matches [ErrLost],
// contexts of grants end. Lost does so, too, and takes the node out of all queues
// here. Back says that the node is there again; places may request again then, as a
// new life at its homes. Suspect is for a node that may be there and may have given
// up this one: what is requested or held is over, and places may request again.
//
// A write that was released, and that its home had not confirmed before, may be lost with
// either. The place that wrote is told by its next operation, and [Site.Flush] names it.
//
// # Locks
//
// A goroutine that has the Site's mutex takes no other. It calls Transport.Send with a resource's
// mutex held.
type Site struct {
	o      SiteOptions
	budget *coherence.Budget // for messages that are kept

	scratches, guests sync.Pool

	mu      sync.RWMutex
	homes   map[uint64]*home
	mirrors map[uint64]*mirror
	strays  map[uint64][]coherence.Message // for homes that are not declared yet
	lives   map[Node]uint64                // the last incarnation of nodes that are back
	away    map[Node]error                 // nodes that are away, and why

	keepers keepers
	counts  siteCounts
}

// Transport carries messages to other nodes.
type Transport interface {
	// Send takes a message, or returns the reason why it cannot arrive. It returns at once, and
	// calls nothing of the Site. A message arrives once, at any time and not always in order,
	// until [Site.Away] or [Site.Lost] ends the lanes, at either end.
	//
	// The header is good until Send returns. The bulk bytes are good until then, too. If
	// lasting is true, they do not change until the other node has taken them, or the
	// lanes have ended.
	Send(to Node, header, bulk []byte, lasting bool) error
	// Post is Send for a message whose answer is not awaited: it may travel with the next
	// message. If there is none, it leaves at once.
	Post(to Node, header, bulk []byte, lasting bool) error
}

// SiteOptions describe a site.
type SiteOptions struct {
	// Node is this node's number, below Nodes, which is how many there are.
	Node  Node
	Nodes int
	// Incarnation is this life of the node: it grows with each start. From 1, which
	// is the default, below 1<<44: milliseconds since 1970 will do for centuries.
	Incarnation uint64
	// Transport carries messages.
	Transport Transport
	// Suspected is why the lease of what a node has lent to this one may be over by
	// now, or nil. It is asked whenever a place is about to use, or to end, what it was
	// granted, since Suspect may come late in a process that was stopped. It neither
	// waits nor calls the Site. Without it no place asks.
	Suspected func(Node) error
	// Memory, if not nil, holds the bytes of large resources without fault pages.
	Memory Allocator
	// Ended, if not nil, is told of grants that end with the loss of a node. A home tells
	// of those that it had given to that node, a mirror of its own. A mirror also tells of
	// a write that may be lost. Ended is called with the resource locked: it only notes.
	Ended func(Ending)
	// Limit is the greatest size of a resource in bytes, at least 8. The default
	// is 1 GiB.
	Limit int
	// Later, if not nil, has sweep called after a while. The second sweep asks for a write that
	// the home has not confirmed by then.
	Later func(sweep func())
	// Kept is how many bytes of messages are kept for each other node, because they
	// came before their turn. From 4096; the default is 64 MiB. One message is kept
	// whatever its size.
	Kept int
}

// Allocator provides memory for the bytes of large resources. A [Site]'s Transport can send
// them from there at less cost. Any goroutine may call its methods: Make returns zeroed memory
// of a size, aligned for any type. Free takes it back. A message may still be reading it, so
// it must not change yet.
type Allocator = coherence.Allocator

// Ending is grants that are over before they were released. Or it is one grant: its write
// was released, and may be lost.
type Ending struct {
	Resource *Resource
	Node     Node   // the node that had them
	Grants   int    // how many
	Fence    uint64 // of the last of them
	Why      error  // nil at the home; a *LostWriteError of a write that may be lost
}

// ended tells of grants that are over.
func (s *Site) ended(e Ending) {
	if s.o.Ended != nil && e.Grants > 0 {
		s.o.Ended(e)
	}
}

func (o SiteOptions) withDefaults() SiteOptions {
	if o.Incarnation == 0 {
		o.Incarnation = 1
	}
	if o.Limit == 0 {
		o.Limit = 1 << 30
	}
	if o.Kept == 0 {
		o.Kept = 64 << 20
	}
	return o
}

func (o SiteOptions) validate() error {
	switch {
	case o.Nodes < 1:
		return fmt.Errorf("resource: SiteOptions.Nodes is %d: want at least 1", o.Nodes)
	case int64(o.Node) >= int64(o.Nodes):
		return fmt.Errorf("resource: SiteOptions.Node is %d: want a number below Nodes, %d", o.Node, o.Nodes)
	case o.Incarnation >= 1<<(64-lifeBits):
		return fmt.Errorf("resource: SiteOptions.Incarnation is %d: want 1 to %d", o.Incarnation, uint64(1)<<(64-lifeBits)-1)
	case o.Transport == nil:
		return errors.New("resource: SiteOptions.Transport is nil: want one")
	case o.Kept < 4096:
		return fmt.Errorf("resource: SiteOptions.Kept is %d: want at least 4096", o.Kept)
	case o.Limit < 8:
		return fmt.Errorf("resource: SiteOptions.Limit is %d: want at least 8", o.Limit)
	}
	return nil
}

// lifeBits is how many low bits of a message's incarnation count the lives of a mirror.
// The bits above them count the lives of its node.
const lifeBits = 20

// The errors of a declaration, and of a message that is for no resource.
var (
	// ErrDeclared is a resource that is declared twice, or two whose names have the
	// same number.
	ErrDeclared = errors.New("resource: declared already: give each resource a name of its own")
	// ErrUsed is the declaration of a resource that has been requested.
	ErrUsed = errors.New("resource: requested already: declare its home and policy before the first request")
	// ErrUnknown is a message for a resource that is not declared here. The site has no
	// room to keep it.
	ErrUnknown = errors.New("resource: message for a resource that is not declared here")
)

// NewSite makes the part of a node that has no resources yet.
func NewSite(o SiteOptions) (*Site, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Site{
		o: o, budget: coherence.NewBudget(o.Nodes, o.Kept),
		homes: make(map[uint64]*home), mirrors: make(map[uint64]*mirror),
		strays: make(map[uint64][]coherence.Message), lives: make(map[Node]uint64), away: make(map[Node]error),
	}, nil
}

// numberOf is a resource's number in messages.
func numberOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// life is the incarnation in messages of a mirror's life.
func (s *Site) life(n uint64) uint64 { return s.o.Incarnation<<lifeBits + n }

// Home makes this node the home of a resource that has no request yet.
func (s *Site) Home(r *Resource) error {
	number := numberOf(r.name)
	h := &home{site: s, r: r}
	s.mu.Lock()
	if err := s.mayDeclare(r); err != nil {
		s.mu.Unlock()
		return err
	}
	r.buffer.House(s.o.Memory, true)
	h.half, r.home = *coherence.NewHome(&r.buffer, &r.ledger, coherence.HomeOptions{Resource: number, Limit: s.o.Limit}), h
	r.completed.Or(shared)
	s.homes[number] = h
	strays := s.strays[number]
	delete(s.strays, number)
	h.mu.Lock() // from now on messages come after the strays
	s.mu.Unlock()
	c := s.scratch()
	defer s.spare(c)
	for i := range strays {
		m := &strays[i]
		s.budget.Free(m, m.Node)
		if err := h.take(m, c); err != nil {
			s.note(err)
		}
	}
	h.unlock()
	return nil
}

// Mirror makes a resource that has no request yet the mirror of the resource of that name
// that has its home on another node. The bytes that it has now are ignored. Others may have
// used the resource for long: the first grant brings its present bytes.
func (s *Site) Mirror(r *Resource, home Node) error {
	if home == s.o.Node || int64(home) >= int64(s.o.Nodes) {
		return fmt.Errorf("resource: mirror of %q with its home on node %d: want another node than %d, below %d", r.name, home, s.o.Node, s.o.Nodes)
	}
	number := numberOf(r.name)
	f := &mirror{site: s, r: r, home: home, half: *coherence.NewMirror(&r.buffer, coherence.MirrorOptions{
		Resource: number, Node: s.o.Node, Incarnation: s.life(0), Limit: s.o.Limit,
	})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayDeclare(r); err != nil {
		return err
	}
	if why := s.away[home]; why != nil {
		f.away = fmt.Errorf("%w: %w", ErrLost, why)
	}
	r.buffer.House(s.o.Memory, false)
	r.mirror = f
	r.requested.Or(apart)
	s.mirrors[number] = f
	return nil
}

// mayDeclare reports why a resource cannot be declared, if it cannot.
func (s *Site) mayDeclare(r *Resource) error {
	number := numberOf(r.name)
	other := ""
	if h := s.homes[number]; h != nil {
		other = h.r.name
	} else if f := s.mirrors[number]; f != nil {
		other = f.r.name
	}
	switch {
	case other != "":
		return fmt.Errorf("%w: %q, as %q", ErrDeclared, r.name, other)
	case r.initial > s.o.Limit:
		return fmt.Errorf("%w: %q has %d, SiteOptions.Limit is %d", ErrContents, r.name, r.initial, s.o.Limit)
	case r.home != nil || r.mirror != nil:
		return fmt.Errorf("%w: %q, at another site", ErrDeclared, r.name)
	case r.outstanding():
		return fmt.Errorf("%w: %q", ErrUsed, r.name)
	}
	return nil
}
