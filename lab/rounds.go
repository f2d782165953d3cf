package lab

import (
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// rounds calls round until rank 0 finds that the time is over. All ranks make the same number of
// them. counted gets what those after the warm-up have taken.
func (r *player) rounds(round func() (time.Duration, error), counted func(took time.Duration)) error {
	if r.w.Rank() == 0 {
		for i := range rma.Disp(2) { // from the last repeat
			r.w.Put(0, r.stage+i, 0)
		}
		r.w.Flush(0)
	}
	if err := r.meet(); err != nil {
		return err
	}
	t := newTurns(r)
	stage := uint64(0)
	for n := rma.Disp(0); stage < stageOver; n++ {
		took, err := round()
		if err != nil {
			return err
		}
		if stage == stageCounts {
			counted(took)
		}
		if r.w.Rank() == 0 {
			t.next()
			r.w.Put(0, r.stage+n%2, t.stage())
			r.w.Flush(0)
		}
		if err := r.meet(); err != nil {
			return err
		}
		before := stage
		if stage = r.w.Get(0, r.stage+n%2); stage == stageCounts && before == stageWarm && r.w.Rank() != 0 {
			r.sample.reset()
		}
	}
	if r.w.Rank() == 0 {
		t.end()
	}
	return r.meet() // all have read the last stage, and rank 0 may begin the next repeat
}

// The stages of rounds. Rank 0 writes the stage before a fence, and all ranks read it behind. Two
// words take turns, so rank 0 does not write one that another rank has yet to read.
const (
	stageWarm = iota
	stageCounts
	stageOver
)

// stage is where the turns of rank 0 are.
func (t *turns) stage() uint64 {
	switch {
	case t.over:
		return stageOver
	case t.counting:
		return stageCounts
	}
	return stageWarm
}
