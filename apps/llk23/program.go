package main

import (
	"fmt"
	"iter"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// declare makes the program. Tasks are declared block by block, row by row, the stages of
// a block in their order and before its exporters. So the canonical order of the first
// requests gives each block the northern and western frontiers of this pass, and the
// southern and eastern ones of the last. In the first pass these are initial values, with
// which the resources are filled.
//
// A part's tasks run where its block is. A frontier's home is the node that writes it, as
// by default of every resource.
func (f *field) declare(rt *orwl.Runtime) error {
	edges, err := f.declareFrontiers(rt)
	if err != nil {
		return err
	}
	for _, p := range f.parts {
		f.declareStages(rt, p, edges)
		if f.form == nine {
			f.declareExporters(rt, p, edges[p])
		}
	}
	f.declareCollection(rt)
	return nil
}

// actor declares a task that works on a part. The node works until all of its own have
// ended.
func (f *field) actor(rt *orwl.Runtime, p *part, name string) *orwl.Task {
	t := rt.Task(name).On(p.node)
	if p.node == f.nodes.Number() {
		f.actors[t] = true
		f.working.Add(1)
	}
	return t
}

// sides are the directions in which a part has neighbours that read what it
// exports. The kernel needs no corners, so that only the paper's form, which is
// for stencils of any kind, has them.
func (f *field) sides(p *part) iter.Seq2[direction, *part] {
	return func(yield func(direction, *part) bool) {
		for d := range directions {
			if f.form == fused && d.diagonal() {
				continue
			}
			if q := f.neighbour(p, d); q != nil && !yield(d, q) {
				return
			}
		}
	}
}

// neighbour is the part in direction d of p, or nil.
func (f *field) neighbour(p *part, d direction) *part {
	rows, cols := d.step()
	row, col := p.row+rows, p.col+cols
	if row < 0 || row >= f.grid.rows || col < 0 || col >= f.grid.cols {
		return nil
	}
	return f.parts[row*f.grid.cols+col]
}

// frontiers are those that each part exports, by direction.
type frontiers map[*part]*[directions]*frontier

func (f *field) declareFrontiers(rt *orwl.Runtime) (frontiers, error) {
	edges := make(frontiers, len(f.parts))
	for _, p := range f.parts {
		edges[p] = new([directions]*frontier)
		for d := range f.sides(p) {
			r := p.extent.edge(d)
			e := &frontier{Resource: orwl.Array[float64](rt, fmt.Sprintf("%v of %v", d, p), r.cells())}
			edges[p][d] = e
			if !d.earlier() || p.block == nil {
				continue
			}
			if err := e.fill(p.block, r); err != nil {
				return nil, err
			}
		}
	}
	return edges, nil
}

// declareStages declares a part's stages. Tasks of a part take turns by the access to its
// data, which they declare first.
func (f *field) declareStages(rt *orwl.Runtime, p *part, edges frontiers) {
	most := f.deep() + 1
	cuts := p.extent.cuts(most, f.form == fused && f.neighbour(p, north) != nil, f.neighbour(p, south) != nil)
	count := len(cuts) - 1
	if count > 1 || f.form == nine {
		p.data = rt.Resource(fmt.Sprintf("data of %v", p), 0)
	}
	for i := range count {
		name := p.String()
		if count > 1 {
			name = fmt.Sprintf("%v, stage %d of %d", p, i+1, count)
		}
		s := &stage{Task: f.actor(rt, p, name), part: p, from: cuts[i], to: cuts[i+1]}
		s.Each(f.passes(), func(k int) error { return s.round(f.problem, k) })
		if p.data != nil {
			s.Write(p.data)
		}
		p.stages = append(p.stages, s)
	}
	f.declareInlets(p, edges)
	if f.form == fused {
		f.declareOutlets(p, edges[p])
	}
}

// declareInlets declares what a part reads. Its last stages need the southern frontier.
func (f *field) declareInlets(p *part, edges frontiers) {
	for d, q := range f.sides(p) {
		s := p.stages[0]
		if rows, _ := d.step(); rows > 0 {
			s = p.stageAt(p.extent.late(f.deep() + 1))
		}
		e := edges[q][d.opposite()]
		in := inlet{In: orwl.Reads[float64](s.Task, e.Resource), from: e, into: p.extent.border(d)}
		if p.node != q.node {
			in.far = &arrival{clock: f.clock}
			in.Access().Place().Observe(in.far, resource.GrantedFar)
		}
		s.in = append(s.in, in)
	}
}

// declareOutlets declares what a part exports itself. A worker runs the step next that it
// has made ready first. Of all neighbours the eastern one is the likeliest to have
// everything else. So the eastern frontier is the first to be released.
func (f *field) declareOutlets(p *part, edges *[directions]*frontier) {
	for _, d := range []direction{east, south, west, north} {
		if edges[d] == nil {
			continue
		}
		s := p.stages[len(p.stages)-1]
		if d == north {
			s = p.stageAt(p.extent.early(f.deep()+1) - 1)
		}
		s.out = append(s.out, outlet{orwl.Writes[float64](s.Task, edges[d].Resource), edges[d], p.extent.edge(d)})
	}
}

// declareExporters declares the sub-tasks of a block.
func (f *field) declareExporters(rt *orwl.Runtime, p *part, edges *[directions]*frontier) {
	for d := range f.sides(p) {
		x := &exporter{Task: f.actor(rt, p, fmt.Sprintf("%v, %v", p, d)), part: p}
		x.Each(f.passes(), func(k int) error { x.round(f.passes(), k); return nil })
		x.Read(p.data)
		x.out = outlet{orwl.Writes[float64](x.Task, edges[d].Resource), edges[d], p.extent.edge(d)}
		f.exporters = append(f.exporters, x)
	}
}

// Observe implements orwl.Observer: one of those that work has ended, well or not.
func (f *field) Observe(e orwl.Event) {
	if e.Kind == orwl.Ended && f.actors[e.Task] {
		f.working.Done()
	}
}
