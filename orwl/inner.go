package orwl

import (
	"slices"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/resource"
)

func init() {
	inner.OfRuntime = func(rt any) inner.Runtime { return innerRuntime{rt.(*Runtime)} }
	inner.OfTask = func(t any) inner.Task { return innerTask{t.(*Task)} }
	inner.OfAccess = func(a any) inner.Access { return innerAccess{a.(*Access)} }
	inner.Computes = func(o any, ran func() int64) { o.(*Options).ran = ran }
	inner.KeepCuts = func(o, disk any) { o.(*Options).disk = disk.(folder.Disk) }
}

// innerRuntime is a Runtime as other packages of this module see it.
type innerRuntime struct{ *Runtime }

// Network implements inner.Runtime.
func (rt innerRuntime) Network() node.Node { return rt.o.Nodes.Network() }

// Leave implements inner.Runtime.
func (rt innerRuntime) Leave() bool {
	s := rt.o.Nodes.survival
	return s != nil && s.cuts.Load() && !s.leaves.Swap(true)
}

// Grid implements inner.Runtime.
func (rt innerRuntime) Grid(name string, progress func() (done, total int64)) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.turn()
	rt.grids = append(slices.Clip(rt.grids), grid{name, progress})
}

// Weights implements inner.Runtime.
func (rt innerRuntime) Weights() []int { return rt.o.Nodes.weighs() }

// innerTask is a Task as other packages of this module see it.
type innerTask struct{ t *Task }

func (t innerTask) Read(r *resource.Resource) any  { return t.t.reads(r) }
func (t innerTask) Write(r *resource.Resource) any { return t.t.writes(r) }

func (t innerTask) Unit() { t.t.unit = true }

func (t innerTask) Did() int64 { return t.t.did() }

func (t innerTask) Accesses() []inner.Access {
	all := make([]inner.Access, len(t.t.accesses))
	for i, a := range t.t.accesses {
		all[i] = innerAccess{a}
	}
	return all
}

// innerAccess is an Access as other packages of this module see it.
type innerAccess struct{ a *Access }

func (a innerAccess) Place() *queue.Place { return &a.a.place }
func (a innerAccess) Resource() *resource.Resource {
	return (*resource.Resource)(a.a.resource.Resource)
}
func (a innerAccess) Mode() queue.Mode { return a.a.mode }
