package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/orwl/go-orwl/orwl"
)

// teller writes where the run's tasks and frontiers are, and why, when the first task of
// this node begins: the nodes have agreed on it then. It is an observer of the runtime.
type teller struct {
	to      io.Writer
	runtime *orwl.Runtime
	once    sync.Once
}

// Observe implements orwl.Observer.
func (w *teller) Observe(e orwl.Event) {
	if e.Kind == orwl.Began {
		w.once.Do(func() { fmt.Fprint(w.to, w.runtime.Placement()) })
	}
}
