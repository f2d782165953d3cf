package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl/session"
	"github.com/orwl/go-orwl/resource"
)

// Dial makes a session: this process, which is not part of a run, uses resources of one by their
// names. addresses are where nodes that serve may listen, or `orwl serve` does, with commas
// between; session.DefaultAddress if empty. key is the run's.
//
//	s, err := orwl.Dial(ctx, "host:6795", key)
//	...
//	l, err := s.Lock(ctx, "jobs")
func Dial(ctx context.Context, addresses string, key []byte) (*session.Session, error) {
	return session.Dial(ctx, session.Options{Addresses: session.Addresses(addresses), Key: key})
}

// ErrHome is the reason why a node does not serve a resource.
var ErrHome = errors.New("orwl: the resource is not served here")

// Serve lets sessions of other processes use resources of this runtime, beside its tasks: those
// that have their home on this node. A session keeps its place in the same queue as tasks do. It
// can hold up tasks for as long as it holds, and deadlock with them if it holds one resource and
// waits for another; package liveness does not know it.
//
// Requests that come before Run has begun are refused. Close the server before the nodes. In a
// run of several nodes, sessions dial the node's own address with the run's key: Listen and Key
// of the options are for a run of one node.
func (rt *Runtime) Serve(ctx context.Context, o session.ServerOptions) (*session.Server, error) {
	o.Lookup = rt.served
	if o.Log == nil {
		o.Log = rt.o.Log
	}
	if rt.o.Nodes.many() {
		if o.Listen = rt.o.Nodes.place.Listen; o.Listen == "" {
			o.Listen = "127.0.0.1:0" // as package p2p has it
		}
		return session.On(rt.o.Nodes.node, o)
	}
	return session.Listen(ctx, o)
}

// served is the resource of a name, for a session.
func (rt *Runtime) served(name string) (*resource.Resource, error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.resources[name]
	switch {
	case r == nil:
		return nil, fmt.Errorf("%w: the program declares no %q", ErrHome, name)
	case rt.run == nil:
		return nil, fmt.Errorf("%w: the run has not begun", ErrHome)
	case rt.homes[name] != rt.Node():
		return nil, fmt.Errorf("%w: the home of %q is node %d: dial that one", ErrHome, name, rt.homes[name])
	}
	return r, nil
}
