package orwl

import (
	"context"
	"slices"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// Tests use what no program does. Other packages of this module have some of it by package inside.

func (rt *Runtime) Lookup(name string) *resource.Resource { return rt.lookup(name) }
func (rt *Runtime) System() liveness.System {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return systemOf(rt.tasks)
}
func (rt *Runtime) Snapshots(r *resource.Resource) { innerRuntime{rt}.Snapshots(r) }
func (rt *Runtime) Snapshot(ctx context.Context, r *resource.Resource, dst []byte) ([]byte, uint64, error) {
	return innerRuntime{rt}.Snapshot(ctx, r, dst)
}

func (t *Task) Read(r *resource.Resource) *Access  { return t.reads(r) }
func (t *Task) Write(r *resource.Resource) *Access { return t.writes(r) }
func (t *Task) Accesses() []*Access                { return slices.Clone(t.accesses) }

func (a *Access) Place() *queue.Place          { return &a.place }
func (a *Access) Task() *Task                  { return a.task }
func (a *Access) Resource() *resource.Resource { return (*resource.Resource)(a.resource.Resource) }
func (a *Access) Mode() queue.Mode             { return a.mode }

// Snapshot is Runtime.Snapshot with elements of type T.
func Snapshot[T any](ctx context.Context, rt *Runtime, r *resource.Resource) ([]T, uint64, error) {
	b, version, err := rt.Snapshot(ctx, r, nil)
	return typed.Slice[T](b), version, err
}

func Read[T any](a *Access) handle.View[T] { return read[T](a) }

func (in In[T]) Access() *Access   { return in.access }
func (out Out[T]) Access() *Access { return out.access }

// Write is what Out.Slice is made of.
func Write[T any](a *Access) []T { return write[T](a) }

// spreads begins a run until its tasks have nodes.
func (rt *Runtime) spreads() error {
	rt.runs++
	rt.numberResources(rt.tasks)
	return rt.spread()
}
