package stencil

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// fill sets the initial values of this node's tiles, several at a time. It also sets the faces that a neighbour imports
// before a tile has computed them.
func (g *Grid) fill() error {
	var next atomic.Int64
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(g.tiles) {
					return
				}
				if t := g.tiles[n]; t.node == g.rt.Node() {
					if err := t.fill(); err != nil {
						once.Do(func() { failed = err })
						return
					}
				}
			}
		})
	}
	all.Wait()
	if failed != nil {
		return failed
	}
	for _, x := range slices.Concat(g.trees...) {
		if x != nil && x.root == g.rt.Node() {
			if err := x.fill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill sets the initial values of a tile. The run has not begun, so nothing waits.
func (t *tile) fill() error {
	return section(t.data, func(data []byte) error {
		t.bind(data)
		for i, f := range t.grid.fields {
			f.fill(t.block.memory[i])
		}
		last := len(t.grid.stages) - 1 // the first pass imports what this stage would have written before
		for d := range t.out[last] {
			face := t.initialFace(t.out[last][d], direction(d))
			if face == nil {
				continue
			}
			err := section(face, func(to []byte) error {
				for _, s := range t.out[last][d].strips {
					t.block.memory[s.field].store(&s, 0, to)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fill writes the record before the first sweep.
func (x *tree) fill() error {
	return section(x.record, func(to []byte) error {
		for i, r := range x.reductions {
			typed.Slice[outcome](to)[i].now = r.o.Start
		}
		return nil
	})
}

// initialFace is the face that the neighbour in a direction imports before the tile has written it. It is nil if the tile
// writes the face first.
func (t *tile) initialFace(x border, d direction) *resource.Resource {
	if x.exchange == nil {
		return nil
	}
	if t.grid.update == Jacobi {
		return x.faces[t.grid.faceSets()-1].Resource // even passes come first
	}
	if n, _ := t.grid.neighbour(t.at, d); t.grid.number(n) < t.grid.number(t.at) {
		return x.faces[0].Resource
	}
	return nil
}

// section runs body, which may write the bytes of a resource.
func section(r *resource.Resource, body func([]byte) error) error {
	return queue.Section(context.Background(), (*queue.Resource)(r), queue.Write, func(p *queue.Place) error {
		data, err := p.Writable()
		if err != nil {
			return err
		}
		return body(data)
	})
}
