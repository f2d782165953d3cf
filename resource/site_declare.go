package resource

import "fmt"

// HomeAt describes the home of a resource.
type HomeAt struct {
	// Epoch is the home's life: it grows when the resource is made again. From 1,
	// which is the default; below 1<<32.
	Epoch uint64
	// Expect is how many first requests of all nodes, this one's included, the home
	// waits for before it queues up any. See [Place.RequestOrdered].
	Expect int
	// Readers and Writers are the nodes whose places may have such an access; nil
	// permits all nodes. The home's own may have any.
	Readers, Writers []Node
}

func (o HomeAt) withDefaults() HomeAt {
	if o.Epoch == 0 {
		o.Epoch = 1
	}
	return o
}

func (o HomeAt) validate() error {
	if o.Expect < 0 {
		return fmt.Errorf("resource: HomeAt.Expect is %d: want 0 or more", o.Expect)
	}
	if o.Epoch >= 1<<32 {
		return fmt.Errorf("resource: HomeAt.Epoch is %d: want 1 to %d", o.Epoch, uint32(1<<32-1))
	}
	return nil
}

// allow returns the test that permits a node's access, or nil if all are permitted.
func (o HomeAt) allow() func(Node, Mode) bool {
	if o.Readers == nil && o.Writers == nil {
		return nil
	}
	return func(n Node, m Mode) bool {
		list := o.Readers
		if m == Write {
			list = o.Writers
		}
		if list == nil {
			return true
		}
		for _, l := range list {
			if l == n {
				return true
			}
		}
		return false
	}
}

// Home makes this node the home of a resource, which nobody has requested yet.
func (s *Site) Home(r *Resource, o HomeAt) error {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	h := &homed{site: s, r: r}
	home, err := NewHome(h, h, &r.ledger, HomeOptions{Resource: numberOf(r.name), Limit: s.o.Limit, Allow: o.allow()})
	if err != nil {
		return err
	}
	h.home = home
	s.mu.Lock()
	if err := s.mayDeclare(r); err != nil {
		s.mu.Unlock()
		return err
	}
	s.house(r, true)
	r.ledger.epoch = uint32(o.Epoch)
	r.ledger.fence.Set(max(r.ledger.fence.Own(), (o.Epoch-1)<<32))
	r.home = h
	if o.Expect > 0 {
		h.gather = &gathering{expect: o.Expect}
		r.requested.Or(apart)
	}
	r.completed.Or(shared)
	number := home.o.Resource
	s.homes[number] = h
	strays := s.strays[number]
	delete(s.strays, number)
	h.mu.Lock() // what comes from now on comes after the strays
	s.mu.Unlock()
	c := s.scratch()
	defer s.spare(c)
	for i := range strays {
		m := &strays[i]
		s.held(m.Node, -cost(m))
		s.note(h.early.inTurn(s, m.Node, m, c, h.step))
	}
	h.unlock()
	return nil
}

// Mirror makes a resource, which nobody has requested yet, the mirror of the one of
// its name that has its home on another node. What bytes it has count for nothing.
func (s *Site) Mirror(r *Resource, home Node) error {
	if home == s.o.Node || int64(home) >= int64(s.o.Nodes) {
		return fmt.Errorf("resource: mirror of %q with its home on node %d: want another node than %d, below %d", r.name, home, s.o.Node, s.o.Nodes)
	}
	f := &mirrored{site: s, r: r, home: home}
	m, err := NewMirror(f, f, MirrorOptions{
		Resource: numberOf(r.name), Node: s.o.Node, Incarnation: s.life(0), Limit: s.o.Limit, Keep: s.o.Later != nil,
	})
	if err != nil {
		return err
	}
	f.mirror = *m
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayDeclare(r); err != nil {
		return err
	}
	s.house(r, false)
	r.mirrored = f
	r.requested.Or(apart)
	s.mirrors[m.o.Resource] = f
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
	case r.home != nil || r.mirrored != nil:
		return fmt.Errorf("%w: %q, at another site", ErrDeclared, r.name)
	case r.requested.Load()&^flags != r.completed.Load()&^flags:
		return fmt.Errorf("%w: %q", ErrUsed, r.name)
	}
	return nil
}
