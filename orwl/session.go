package orwl

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// ErrHome is the reason why a node does not serve a resource.
var ErrHome = errors.New("orwl: the resource is not served here")

// Network is this node's part in the network, where it was told to listen, and the run's key. The
// node is nil if there is no other. Package session serves there.
func (rt *Runtime) Network() (n node.Node, listen string, key []byte) {
	if rt.o.Nodes.many() {
		p := &rt.o.Nodes.place
		return rt.o.Nodes.node, p.Listen, p.Key
	}
	return nil, "", nil
}

// Served is the resource of a name, for sessions of other processes: see session.Serve. It is an
// error before Run has begun, and a [*node.ElsewhereError] on another node than the home.
func (rt *Runtime) Served(name string) (*resource.Resource, error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.resources[name]
	switch {
	case r == nil:
		return nil, fmt.Errorf("%w: the program declares no %q", ErrHome, name)
	case rt.run == nil:
		return nil, fmt.Errorf("%w: the run has not begun", ErrHome)
	case rt.homes[name] != rt.Node():
		return nil, fmt.Errorf("%w: %w", ErrHome, &node.ElsewhereError{Resource: name, Home: rt.homes[name]})
	}
	return r, nil
}
