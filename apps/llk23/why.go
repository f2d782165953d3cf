package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// teller writes where the run's tasks and frontiers are, and why, when the first task of
// this node begins: the nodes have agreed on it then. It is an observer of the runtime.
type teller struct {
	to      io.Writer
	runtime *orwl.Runtime
	once    sync.Once
}

// Access implements orwl.Observer.
func (*teller) Access(*orwl.Access) resource.Observer { return nil }

// Began implements orwl.Observer.
func (w *teller) Began(*orwl.Task) {
	w.once.Do(func() { fmt.Fprint(w.to, w.runtime.Placement()) })
}

// Ended implements orwl.Observer.
func (*teller) Ended(*orwl.Task, error) {}
