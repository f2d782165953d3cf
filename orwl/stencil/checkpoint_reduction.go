package stencil

import (
	"encoding/binary"
	"math"

	"github.com/orwl/go-orwl/orwl/exact"
)

// A checkpoint has the values of reductions that later sweeps need: the last one, which kernels may read by Before, and
// those that may still end the run. Each part of a file has what its tile added. The values of an earlier run are
// complete, and in every file. The run that continues asks Until about them before it begins. So it ends
// after the same sweep as a run without a break.

// savedReduction is a reduction, and what an earlier run has left of it.
type savedReduction struct {
	Name    string       `msgpack:"name"`
	Bytes   int          `msgpack:"bytes"` // of a value
	Results []savedValue `msgpack:"results"`
}

// savedValue is a value of a sweep.
type savedValue struct {
	Sweeps int    `msgpack:"sweeps"` // after which it is the value
	End    int    `msgpack:"end"`    // after how many sweeps it would end the run
	Count  int64  `msgpack:"count"`  // of the values of format 2: those had no exact sums
	Value  []byte `msgpack:"value"`
}

// needed are the values that a run needs which continues after so many sweeps.
func needed(all []savedValue, sweeps int) (left []savedValue) {
	for _, v := range all {
		if v.End >= sweeps {
			left = append(left, v)
		}
	}
	return left
}

// savedReductions are the reductions of a checkpoint after so many sweeps.
func (g *Grid) savedReductions(sweeps int) (all []savedReduction) {
	for _, r := range g.reductions {
		all = append(all, savedReduction{r.name, r.savedBytes(), needed(r.carried, sweeps)})
	}
	return all
}

// savedValues are what the tile has added that a checkpoint needs.
func (t *tile) savedValues(sweeps int) (all [][]savedValue) {
	for i := range t.tallies {
		all = append(all, needed(t.tallies[i].recent, sweeps))
	}
	return all
}

// savedBytes is the size of a saved value. It says which kind of reduction the value is of.
func (r *Reduction) savedBytes() int {
	if r.most {
		return 8
	}
	return exact.StateBytes
}

// keep notes what the tile has added in a sweep, if there are checkpoints.
func (t *tally) keep(r *Reduction) {
	if r.grid.o.Checkpoint.Dir == "" {
		return
	}
	sweeps := int(t.sweeps)
	t.recent = append(needed(t.recent, sweeps), r.saved(&t.partial, sweeps))
}

func (r *Reduction) saved(p *partial, sweeps int) savedValue {
	v := savedValue{Sweeps: sweeps, End: sweeps + r.o.Lag}
	if r.most {
		v.Value = binary.LittleEndian.AppendUint64(nil, math.Float64bits(p.most))
	} else {
		v.Value, _ = p.sum.MarshalBinary() // the error is nil
	}
	return v
}

// restored is a saved value as it was. A state that is damaged in spite of the file's checksum is no value.
func (r *Reduction) restored(v savedValue) partial {
	p := empty()
	if r.most && len(v.Value) == 8 {
		p.most = math.Float64frombits(binary.LittleEndian.Uint64(v.Value))
	} else if !r.most {
		_ = p.sum.UnmarshalBinary(v.Value)
	}
	return p
}

// resumeReductions takes the values that a checkpoint has, and ends the run where the one that wrote it
// would have ended.
func (g *Grid) resumeReductions(files []*savedFile) {
	for number, s := range files[0].contents.Reductions {
		for _, r := range g.reductions {
			if s.Name == r.name && s.Bytes == r.savedBytes() {
				r.resume(s, number, files)
			}
		}
	}
}

func (r *Reduction) resume(s savedReduction, number int, files []*savedFile) {
	r.carried = s.Results
	sums := make(map[int]*partial) // by sweep
	var order []int
	for _, f := range files {
		for _, part := range f.contents.Parts {
			if len(part.Values) <= number {
				continue
			}
			for _, v := range part.Values[number] {
				if sums[v.Sweeps] == nil {
					sums[v.Sweeps] = new(partial)
					*sums[v.Sweeps] = empty()
					order = append(order, v.Sweeps)
				}
				p := r.restored(v)
				sums[v.Sweeps].merge(&p)
			}
		}
	}
	for _, sweeps := range order {
		r.carried = append(r.carried, r.saved(sums[sweeps], sweeps))
	}
	for _, v := range r.carried {
		p := r.restored(v)
		if r.o.Until != nil && r.due(v.Sweeps) && r.o.Until(v.Sweeps-1, p.value(r)) {
			r.grid.total = min(r.grid.total, v.Sweeps+r.o.Lag)
		}
	}
}

// start is the value of the sweep before the first one of the run.
func (r *Reduction) start() float64 {
	if n := len(r.carried); n > 0 {
		p := r.restored(r.carried[n-1])
		return p.value(r)
	}
	return r.o.Start
}
