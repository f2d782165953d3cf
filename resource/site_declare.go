package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// HomeAt describes the home of a resource.
type HomeAt struct {
	// Epoch is the home's life: it grows when the resource is made again. From 1,
	// which is the default; below 1<<32.
	Epoch uint64
	// First are the first requests of all nodes, this one's included, in the order in which
	// the program starts. The home reserves a ticket for each: see [Place.RequestOrdered].
	First []First
	// Readers and Writers are the nodes whose places may have such an access; nil
	// permits all nodes. The home's own may have any.
	Readers, Writers []Node
}

// First is a first request of a program: the node that makes it, and its mode.
type First struct {
	Node Node
	Mode Mode
}

func (o HomeAt) withDefaults() HomeAt {
	if o.Epoch == 0 {
		o.Epoch = 1
	}
	return o
}

func (o HomeAt) validate() error {
	if o.Epoch >= 1<<32 {
		return fmt.Errorf("resource: HomeAt.Epoch is %d: want 1 to %d", o.Epoch, uint32(1<<32-1))
	}
	return checkFirst("HomeAt.First", o.First)
}

func checkFirst(what string, first []First) error {
	for i, f := range first {
		if f.Mode > Write {
			return fmt.Errorf("resource: %s[%d].Mode is %d: want Read or Write", what, i, f.Mode)
		}
	}
	return nil
}

// Home makes this node the home of a resource that has no request yet.
func (s *Site) Home(r *Resource, o HomeAt) error {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	number := numberOf(r.name)
	h := &home{site: s, r: r}
	s.mu.Lock()
	if err := s.mayDeclare(r); err != nil {
		s.mu.Unlock()
		return err
	}
	r.buffer.House(s.o.Memory, true)
	r.ledger.Begin(o.Epoch)
	with := coherence.HomeOptions{Resource: number, Limit: s.o.Limit}
	if o.Readers != nil || o.Writers != nil {
		with.Permit = &coherence.Permit{Readers: o.Readers, Writers: o.Writers}
	}
	h.half, r.home = *coherence.NewHome(&r.buffer, &r.ledger, with), h
	h.reserve(o.First)
	r.completed.Or(shared)
	s.homes[number] = h
	strays := s.strays[number]
	delete(s.strays, number)
	h.mu.Lock() // what comes from now on comes after the strays
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
		Resource: number, Node: s.o.Node, Incarnation: s.life(0), Epoch: 1, Limit: s.o.Limit, Retain: s.o.Later != nil,
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
	case r.requested.Load()&^flags != r.completed.Load()&^flags:
		return fmt.Errorf("%w: %q", ErrUsed, r.name)
	}
	return nil
}
