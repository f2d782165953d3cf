package stencil

import (
	"slices"

	"github.com/orwl/go-orwl/handle"
)

// A checkpoint has the values of reductions that are on their way: those of the last passes, whose results could
// not end the run before the checkpoint. Each part of a file has the values of its tile. What an earlier run has
// left is combined, in every file. The run that continues asks Until about them before it begins. So it ends
// after the same sweep as a run without a break, if it has the same blocks.

// savedReduction is a reduction, and what an earlier run has left of it.
type savedReduction struct {
	Name    string       `msgpack:"name"`
	Bytes   int          `msgpack:"bytes"` // of a value
	Results []savedValue `msgpack:"results"`
}

// savedValue is a value of a pass.
type savedValue struct {
	Sweeps int    `msgpack:"sweeps"` // after which the pass has ended
	End    int    `msgpack:"end"`    // after how many sweeps it would end the run
	Count  int64  `msgpack:"count"`
	Value  []byte `msgpack:"value"`
}

// pending are the values that may still end the run after so many sweeps.
func pending(all []savedValue, sweeps int) []savedValue {
	return slices.DeleteFunc(slices.Clone(all), func(v savedValue) bool { return v.End < sweeps })
}

// savedReductions are the reductions of a checkpoint after so many sweeps.
func (g *Grid) savedReductions(sweeps int) (all []savedReduction) {
	for _, r := range g.reductions {
		s := r.saved()
		s.Results = pending(s.Results, sweeps)
		all = append(all, s)
	}
	return all
}

// savedValues are the tile's values of the last passes.
func (t *tile) savedValues(sweeps int) (all [][]savedValue) {
	for i, r := range t.grid.reductions {
		all = append(all, pending(r.recent(t.flows[i]), sweeps))
	}
	return all
}

// resumeReductions asks about the results that a checkpoint has, and ends the run where the one that wrote it
// would have ended.
func (g *Grid) resumeReductions(files []*savedFile) {
	var parts []*savedPart
	for _, f := range files {
		for i := range f.contents.Parts {
			parts = append(parts, &f.contents.Parts[i])
		}
	}
	slices.SortFunc(parts, func(a, b *savedPart) int { return slices.Compare(a.Low[:], b.Low[:]) })
	for number, s := range files[0].contents.Reductions {
		for _, r := range g.reductions {
			if now := r.saved(); now.Name == s.Name && now.Bytes == s.Bytes {
				g.total = min(g.total, r.resume(s, number, parts))
			}
		}
	}
}

func (r *Reduction[T]) saved() savedReduction {
	return savedReduction{Name: r.name, Bytes: r.valueBytes(), Results: r.pending}
}

// valueBytes is a multiple of 8: memory of so many bytes is aligned for every value.
func (r *Reduction[T]) valueBytes() int {
	n := 8
	for !handle.Fits[T](n) {
		n += 8
	}
	return n
}

// keep notes a tile's message of a pass, if there are checkpoints.
func (f *flow[T]) keep(m message[T]) {
	g := f.reduction.grid
	if g.o.Checkpoint.Dir == "" {
		return
	}
	if len(f.recent) > g.delay() {
		f.recent = slices.Delete(f.recent, 0, 1)
	}
	f.recent = append(f.recent, m)
}

func (r *Reduction[T]) recent(in any) (all []savedValue) {
	for _, m := range in.(*flow[T]).recent {
		sweeps := r.grid.after(m.Pass)
		all = append(all, r.pack(m, sweeps, sweeps+r.Delay()))
	}
	return all
}

func (r *Reduction[T]) pack(m message[T], sweeps, end int) savedValue {
	b := make([]byte, r.valueBytes())
	handle.SliceOf[T](b)[0] = m.Value
	return savedValue{sweeps, end, m.Count, b}
}

func (r *Reduction[T]) unpack(v savedValue) (m message[T]) {
	if b := make([]byte, r.valueBytes()); copy(b, v.Value) == len(b) {
		m.Value, m.Count = handle.ViewOf[T](b).At(0), v.Count
	}
	return m
}

// resume asks about results. The parts are in the order of the blocks. It returns after how many sweeps the run
// ends.
func (r *Reduction[T]) resume(s savedReduction, number int, parts []*savedPart) (end int) {
	r.pending = s.Results
	if len(parts[0].Values) > number {
		for _, v := range parts[0].Values[number] { // each has values of the same passes
			m := r.combined(number, parts, v.Sweeps)
			r.pending = append(r.pending, r.pack(m, v.Sweeps, v.End))
		}
	}
	end = r.grid.total
	for _, v := range r.pending {
		if m := r.unpack(v); r.options.Until != nil && !r.ended && r.options.Until(v.Sweeps-1, m.Value) {
			r.ended, end = true, v.End
		}
	}
	return end
}

// combined combines the values of a pass in the order in which a run does it: see the picture in reduction.go.
func (r *Reduction[T]) combined(number int, parts []*savedPart, sweeps int) message[T] {
	var line, plane, all message[T]
	join := func(of *message[T], to *message[T]) {
		of.join(*to, r.options.Combine)
		*to, *of = *of, message[T]{}
	}
	for n, p := range parts {
		if n > 0 && p.Low[0] != parts[n-1].Low[0] {
			join(&line, &plane)
			join(&plane, &all)
		} else if n > 0 && p.Low[1] != parts[n-1].Low[1] {
			join(&line, &plane)
		}
		for _, v := range p.Values[number] {
			if v.Sweeps == sweeps {
				m := r.unpack(v)
				join(&m, &line)
			}
		}
	}
	join(&line, &plane)
	join(&plane, &all)
	return all
}
