package show

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
	"github.com/orwl/go-orwl/resource"
)

const (
	mostFrames = 64 // of a film. It has half as many at least, if the run has so many exchanges
	filmLong   = 320
	frameShown = time.Second / 15
	lastShown  = time.Second
)

// Film is a film of a field.
type Film struct {
	view   View
	frames []shot
	every  int // sweeps from one frame to the next; 0: there is one frame
	ended  chan struct{}
	far    []*resource.Resource // the films of the other nodes
}

// shot is the field after so many sweeps, as coarsely as it will be drawn.
type shot struct {
	Sweeps     int
	Rows, Cols int
	Cells      []float64
}

// NewFilm films a field while it runs. Every node of a run calls it, after [stencil.Grid.Sweep] and
// before the run.
func NewFilm(v View) *Film {
	f := &Film{view: v, ended: make(chan struct{})}
	v.source.frames(f.shoot)
	g := v.source.grid()
	rt := g.Runtime()
	if _, total := g.Progress(); total == 0 { // this node has no blocks
		close(f.ended)
	}
	for node := 1; node < rt.Nodes(); node++ {
		name := fmt.Sprintf("%s, film of %s of node %d", g.Name(), v.source.name(), node)
		r := rt.Resource(name, 8)
		rt.Home(r, node)
		task := rt.Task(name).On(node)
		access := inner.OfAccess(inner.OfTask(task).Write(r)).Place()
		task.Do(func(t *orwl.Task) error { return f.hand(t, access) })
		f.far = append(f.far, r)
	}
	return f
}

// shoot takes a frame. With too many, every second one goes: which ones depends on their sweeps, so that all
// nodes keep the same.
func (f *Film) shoot(sweeps int, last bool, row func(from, to int) []float64, here []bool) (rarer bool) {
	if last {
		defer close(f.ended)
	}
	begin := sweeps
	if len(f.frames) > 0 {
		begin = f.frames[0].Sweeps
	}
	if len(f.frames) == 1 {
		f.every = sweeps - begin
	}
	if f.every > 0 && (sweeps-begin)%f.every != 0 && !last {
		return false // it had begun when there were to be fewer
	}
	p := f.view.panel(row, here)
	p.Long = filmLong
	p.Keep()
	s := shot{Sweeps: sweeps, Rows: p.Rows, Cols: p.Cols}
	for row := range p.Values {
		s.Cells = append(s.Cells, row...)
	}
	f.frames = append(f.frames, s)
	if last || len(f.frames) <= mostFrames {
		return false
	}
	f.every *= 2
	f.frames = slices.DeleteFunc(f.frames, func(s shot) bool { return (s.Sweeps-begin)%f.every != 0 })
	return true
}

// hand gives the film to node 0, when it is complete: how many bytes it has, and then those.
func (f *Film) hand(t *orwl.Task, to *queue.Place) error {
	select {
	case <-f.ended:
	case <-t.Context().Done():
		return nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f.frames); err != nil {
		return err
	}
	for range inner.OfTask(t).Rounds(1) {
		if err := to.Resize((8 + b.Len() + 7) / 8 * 8); err != nil {
			return err
		}
		bytes, err := to.Writable()
		if err != nil {
			return err
		}
		binary.NativeEndian.PutUint64(bytes, uint64(b.Len()))
		copy(bytes[8:], b.Bytes())
	}
	return nil
}

// Gather adds what the other nodes have filmed. Node 0 calls it after the run, before the nodes leave.
// WriteFilms calls it if the program has not.
func (f *Film) Gather(ctx context.Context) error {
	for _, r := range f.far {
		b, err := orwl.Values[byte](ctx, r)
		if err != nil {
			return err
		}
		var other []shot
		if err := gob.NewDecoder(bytes.NewReader(b[8:][:binary.NativeEndian.Uint64(b)])).Decode(&other); err != nil {
			return fmt.Errorf("show: %s: %w", r.Name(), err)
		}
		if len(other) == 0 {
			continue
		}
		if len(f.frames) == 0 {
			f.frames = other
			continue
		}
		// A cell of a picture is the mean of cells of the grid. Each node has added its own ones, see
		// [View.panel]. So the sum is the mean. A frame that not all have is dropped.
		f.frames = slices.DeleteFunc(f.frames, func(s shot) bool {
			i := slices.IndexFunc(other, func(o shot) bool { return o.Sweeps == s.Sweeps })
			if i < 0 {
				return true
			}
			for n, v := range other[i].Cells {
				s.Cells[n] += v
			}
			return false
		})
	}
	f.far = nil
	return nil
}

// span is the least and the greatest value of all frames.
func (f *Film) span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, s := range f.frames {
		p := f.view.shot(s)
		l, m := p.Span()
		least, most = min(least, l), max(most, m)
	}
	return least, most
}

// shot draws a frame.
func (v View) shot(s shot) picture.Panel {
	p := v.panel(nil, nil)
	p.Rows, p.Cols, p.Values, p.Long = s.Rows, s.Cols, picture.Cells(s.Cells, s.Cols), filmLong
	p.Title = fmt.Sprintf("%s after %d sweeps", p.Title, s.Sweeps)
	return p
}

// WriteFilms writes films of one grid side by side, as a GIF. It is called after the run, on node 0.
func WriteFilms(ctx context.Context, to io.Writer, films ...*Film) error {
	for _, f := range films {
		if err := f.Gather(ctx); err != nil {
			return err
		}
		if least, most := f.span(); f.view.Least == 0 && f.view.Most == 0 {
			f.view.Least, f.view.Most = least, most
		}
	}
	var m picture.Movie
	first := films[0].frames
	for i, s := range first {
		var p picture.Picture
		for _, f := range films {
			n := slices.IndexFunc(f.frames, func(o shot) bool { return o.Sweeps == s.Sweeps })
			if n >= 0 { // each may have a frame that the others have dropped
				p = append(p, f.view.shot(f.frames[n]))
			}
		}
		if len(p) < len(films) {
			continue
		}
		shown := frameShown
		if i == len(first)-1 {
			shown = lastShown
		}
		m.Add(p, shown)
	}
	return m.GIF(to)
}
