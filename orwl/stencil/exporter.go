package stencil

import "github.com/orwl/go-orwl/orwl"

// exporter is a task that writes one face of a tile when all stages have ended: see
// Options.Exporters. All exporters of a tile read it together.
type exporter struct {
	*tile
	exchange *exchange
	task     *orwl.Task
	data, to *orwl.Access
	face     *face
}

func (g *Grid) declareExporter(t *tile, d direction, rounds, parity int) {
	x := t.out[d]
	e := &exporter{tile: t, exchange: x.exchange, face: &x.faces[parity]}
	e.task = g.rt.Task(e.face.Name() + ", exporter").On(t.node)
	e.data, e.to = e.task.Read(t.data), e.task.Write(e.face.Resource)
	e.task.Each(rounds, func(round int) error { return e.run(g.parities()*round + parity) })
}

// run exports after pass n.
func (e *exporter) run(n int) error {
	g := e.grid
	e.tell(e.task, Exporting)
	swept := min(g.start+(n+1)*g.tiling.sweeps, g.total)
	data, err := e.data.Place().Bytes()
	if err != nil {
		return err
	}
	face, err := e.to.Place().Writable()
	if err != nil {
		return err
	}
	for i := range e.exchange.strips {
		s := &e.exchange.strips[i]
		e.block.memory[s.field].export(s, swept, data, face)
	}
	e.face.computed = e.watch.since // no stage runs while an exporter does
	if n+1 == g.passes() {
		e.tell(e.task, Outside)
	} else {
		e.tell(e.task, Waiting)
	}
	return nil
}
