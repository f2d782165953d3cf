package stencil

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// fill sets the initial values of this node's tiles, several at a time, and of the faces that
// a neighbour imports before a tile has computed them.
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
	return failed
}

// fill sets the initial values of a tile. The run has not begun, so nothing waits.
func (t *tile) fill() error {
	return section(t.data, func(data []byte) error {
		t.bind(data)
		for i, f := range t.grid.fields {
			f.fill(t.block.memory[i])
		}
		if err := t.resume(data); err != nil {
			return err
		}
		for d := range t.out {
			face := t.initialFace(direction(d))
			if face == nil {
				continue
			}
			err := section(face, func(to []byte) error {
				for _, s := range t.out[d].strips {
					t.block.memory[s.field].store(&s, t.grid.start, to)
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

// initialFace is the face that the neighbour in a direction imports first, before the tile has
// written it; nil if it has written it by then.
func (t *tile) initialFace(d direction) *resource.Resource {
	x := t.out[d]
	if x.exchange == nil {
		return nil
	}
	if t.grid.update == Jacobi {
		return x.faces[1].Resource // even passes come first
	}
	if n, _ := t.grid.neighbour(t.at, d); t.grid.number(n) < t.grid.number(t.at) {
		return x.faces[0].Resource
	}
	return nil
}

// section runs body with the bytes of a resource, to write.
func section(r *resource.Resource, body func([]byte) error) error {
	var h handle.Handle
	if err := h.Request(r, resource.Write); err != nil {
		return err
	}
	return handle.Section(context.Background(), &h, func() error {
		data, err := h.Place().Writable()
		if err != nil {
			return err
		}
		return body(data)
	})
}
