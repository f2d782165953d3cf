package stencil

import "github.com/orwl/go-orwl/orwl"

// exporter is a task that writes one face of a tile when all pieces have ended: see
// Options.Exporters. All exporters of a tile read it together.
type exporter struct {
	*tile
	exchange *exchange
	task     *orwl.Task
	data, to *orwl.Access
	face     *face
}

func (g *Grid) declareExporter(t *tile, d direction, stage, turn int) {
	x := t.out[stage][d]
	e := &exporter{tile: t, exchange: x.exchange, face: &x.faces[turn%g.faceSets()]}
	e.task = g.rt.Task(t.name + " to " + g.stepName(d) + g.turnName(turn) + g.stageName(stage) + ", exporter").On(t.node)
	e.data, e.to = e.task.Read(t.data), e.task.Write(e.face.Resource)
	e.task.Each(g.rounds(turn), func(round int) error { return e.run(g.turns*round + turn) })
}

// run exports after pass n.
func (e *exporter) run(n int) error {
	g := e.grid
	if e.over(g.bound(n)) {
		e.task.Last()
		return nil
	}
	e.tell(e.task, Exporting)
	swept := g.bound(n + 1)
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
	e.face.computed = e.watch.since // no piece runs while an exporter does
	if swept == g.total || e.over(swept) {
		e.tell(e.task, Outside)
	} else {
		e.tell(e.task, Waiting)
	}
	return nil
}
