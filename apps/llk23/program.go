package main

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl"
)

// declare makes the program. Tasks are declared block by block, row by row, each
// main task before its exporters: so the canonical order of the first requests
// gives each block the northern and western frontiers of this iteration, and the
// southern and eastern ones of the last. Of the first iteration these are initial
// values, with which the resources are filled.
//
// A part's tasks run where its block is. A frontier's home is where it is written,
// as that of every resource is unless somebody says otherwise.
func (f *field) declare(rt *orwl.Runtime) error {
	edges, err := f.declareFrontiers(rt)
	if err != nil {
		return err
	}
	for _, p := range f.parts {
		f.declareMain(rt, p, edges)
		if f.form == nine {
			f.declareExporters(rt, p, edges[p])
			continue
		}
		f.declareOutlets(p, edges[p])
	}
	f.declareCollection(rt)
	return nil
}

// do gives a task its body. If it is this node's, the node works until it ends.
func (f *field) do(t *orwl.Task, node int, body func() error) {
	if node == f.nodes.Number() {
		f.working.Add(1)
	}
	t.Do(func(*orwl.Task) error {
		defer f.working.Done()
		return body()
	})
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
			e := &frontier{Resource: rt.Resource(fmt.Sprintf("%v of %v", d, p), 8*r.cells())}
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

// declareMain declares a main task, and what it reads. The western frontier comes
// first: it is mostly the last to be there, and who has waited for it finds the
// others without waiting once more.
func (f *field) declareMain(rt *orwl.Runtime, p *part, edges frontiers) {
	p.Task = rt.Task(p.String()).On(p.node)
	f.do(p.Task, p.node, func() error { return p.main(f.problem) })
	for d, q := range f.sides(p) {
		e := edges[q][d.opposite()]
		in := inlet{Access: p.Read(e.Resource), from: e, into: p.extent.border(d)}
		if p.node != q.node {
			in.came = new(atomic.Int64)
		}
		switch rows, _ := d.step(); {
		case rows > 0:
			p.late = append(p.late, in)
		case d == west:
			p.first = slices.Insert(p.first, 0, in)
		default:
			p.first = append(p.first, in)
		}
	}
}

// declareOutlets declares what a main task exports itself. The northern frontier
// is written as early as possible if that is before the end. The eastern one is
// the last: whoever is woken last runs next, and of all neighbours the eastern
// one is the likeliest to have everything else.
func (f *field) declareOutlets(p *part, edges *[directions]*frontier) {
	for d := range f.sides(p) {
		out := outlet{Access: p.Write(edges[d].Resource), to: edges[d], of: p.extent.edge(d)}
		switch {
		case d == north && p.extent.steps(f.deep()+1) > 1:
			p.early = append(p.early, out)
		case d == east:
			p.rest = append(p.rest, out)
		default:
			p.rest = slices.Insert(p.rest, 0, out)
		}
	}
}

// declareExporters declares the sub-tasks of a block. What the main task leaves
// to them is the block itself, under a resource without bytes of its own.
func (f *field) declareExporters(rt *orwl.Runtime, p *part, edges *[directions]*frontier) {
	data := rt.Resource(fmt.Sprintf("data of %v", p), 0)
	p.data = p.Write(data)
	for d := range f.sides(p) {
		x := &exporter{part: p}
		x.Task = rt.Task(fmt.Sprintf("%v, %v", p, d)).On(p.node)
		f.do(x.Task, p.node, func() error { return x.export(f.iters) })
		x.data = x.Read(data)
		x.out = outlet{Access: x.Write(edges[d].Resource), to: edges[d], of: p.extent.edge(d)}
		f.exporters = append(f.exporters, x)
	}
}

// actors are all tasks that work on blocks, those of other nodes as well, in the
// order in which they are declared, each with the part that it belongs to.
func (f *field) actors() iter.Seq2[*part, *actor] {
	return func(yield func(*part, *actor) bool) {
		exporters := f.exporters
		for _, p := range f.parts {
			if !yield(p, &p.actor) {
				return
			}
			for len(exporters) > 0 && exporters[0].part == p {
				if !yield(p, &exporters[0].actor) {
					return
				}
				exporters = exporters[1:]
			}
		}
	}
}
