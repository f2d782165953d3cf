package orwl

import (
	"context"
	"iter"
	"slices"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// Tests use what no program does. Other packages of this module have some of it by package inside.

func (rt *Runtime) Lookup(name string) *resource.Resource       { return rt.lookup(name) }
func (rt *Runtime) System() liveness.System                     { return innerRuntime{rt}.System() }
func (rt *Runtime) Policy(r *resource.Resource, p queue.Policy) { innerRuntime{rt}.Policy(r, p) }
func (rt *Runtime) Snapshots(r *resource.Resource)              { innerRuntime{rt}.Snapshots(r) }
func (rt *Runtime) Relaxed(r *resource.Resource)                { innerRuntime{rt}.Relaxed(r) }
func (rt *Runtime) Snapshot(ctx context.Context, r *resource.Resource, dst []byte) ([]byte, uint64, error) {
	return innerRuntime{rt}.Snapshot(ctx, r, dst)
}

func (t *Task) Read(r *resource.Resource) *Access  { return t.reads(r) }
func (t *Task) Write(r *resource.Resource) *Access { return t.writes(r) }
func (t *Task) Accesses() []*Access                { return slices.Clone(t.accesses) }
func (t *Task) Rounds(n int) iter.Seq[int]         { return t.rounds(n) }
func (t *Task) EndRound()                          { t.round.Inc() }

func (a *Access) Priority(p int) *Access                              { return a.prioritize(p) }
func (a *Access) Acquire(ctx context.Context) error                   { return a.take(ctx) }
func (a *Access) Next() error                                         { return a.next() }
func (a *Access) Release() error                                      { return a.release() }
func (a *Access) Cancel() error                                       { return a.cancel() }
func (a *Access) Abandon(reason error) error                          { return a.abandon(reason) }
func (a *Access) Request(r *resource.Resource, m resource.Mode) error { return a.request(r, m) }
func (a *Access) Place() *queue.Place                                 { return &a.place }
func (a *Access) Task() *Task                                         { return a.task }
func (a *Access) Resource() *resource.Resource                        { return (*resource.Resource)(a.resource) }
func (a *Access) Mode() queue.Mode                                    { return a.mode }

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

// Leave asks the node to leave the run, as SIGTERM does. It reports whether a cut can hold what the node has: else the process would end at
// once.
func (rt *Runtime) Leave() bool {
	s := rt.o.Nodes.survival
	return s != nil && s.cuts.Load() && !s.leaves.Swap(true)
}
