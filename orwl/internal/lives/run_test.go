package lives

import (
	"fmt"

	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// The processes of a world have tasks in rounds, and one run after another.

// record is what a task adds to a cut.
func (w *world) record(task int) Record {
	n := w.rounds[task]
	return Record{Task: task, Rounds: n, Ended: n == w.ends[task], Contents: []Content{{task, []byte(fmt.Sprint(w.run, " ", task, " ", n))}}}
}

// goes reports whether a task may do its next round: its neighbours have done the last one.
func (w *world) goes(task int) bool {
	if w.rounds[task] == w.ends[task] {
		return false
	}
	for _, by := range []int{-1, 1} {
		n := (task + by + len(w.ends)) % len(w.ends)
		if w.rounds[n] < min(w.rounds[task], w.ends[n]) {
			return false
		}
	}
	return true
}

// does does a round of a task.
func (w *world) does(p *process, task int) {
	w.rounds[task]++
	n := w.rounds[task]
	if p.at > 0 && (n == p.at || n < p.at && n == w.ends[task]) {
		w.sends(p, p.keeper.Add(p.at, w.record(task)))
	}
}

// asks has a process begin a cut, if it still can.
func (w *world) asks(p *process, round uint64) {
	most := uint64(0)
	for _, t := range p.mine {
		if n := w.rounds[t]; n >= round && (n > round || n < w.ends[t]) {
			most = max(most, n)
		}
	}
	w.sends(p, p.keeper.Did(round, balance.Load{Units: p.me, Done: int64(round), Wall: int64(w.run), Busy: int64(w.life)}))
	if most > 0 {
		w.seen["passed"]++
		w.passed = true
		p.at = 0
		w.sends(p, p.keeper.Passed(round, most))
		return
	}
	p.at = round
	for _, t := range p.mine {
		if w.rounds[t] == w.ends[t] {
			w.sends(p, p.keeper.Add(round, w.record(t)))
		}
	}
}

// plan is what a run of this life begins from.
func (w *world) plan(run int) Plan { return Choose(w.reports, uint64(run), 0) }

// replays reports whether the life has not come to the run in which the program is furthest. Nobody wants its end before.
func (w *world) replays() bool { return uint64(w.run) < Newest(w.reports).Run }

// beginsRun begins a run of the life, once all members have ended the last one.
func (w *world) beginsRun(run int) {
	w.run, w.ends = run, w.runs[run-1]
	plan := w.plan(run)
	if plan.From.Round > 0 {
		w.seen["from a cut"]++
	}
	if plan.From.Round == End {
		w.seen["from the end of a run"]++
	}
	on := make([]int, len(w.ends))
	for t := range on {
		on[t] = w.r.IntN(len(w.members))
	}
	buddy := make([]int, len(w.members))
	for i := range buddy {
		buddy[i] = (i + 1) % len(w.members)
	}
	for i, p := range w.members {
		p.mine, p.began, p.restored, p.out, p.at = nil, false, false, false, 0
		for t, n := range on {
			if n == i {
				p.mine = append(p.mine, t)
			}
		}
		p.me, p.next = i, &Life{
			Number: w.life, Run: uint64(run), Me: i, Nodes: len(w.members), Buddy: buddy, Total: len(on), Mine: len(p.mine),
			On: func(t int) int { return on[t] }, From: plan, Disk: w.disk != nil,
		}
	}
	w.rounds, w.ready, w.passed, w.wholes, w.wanted, w.told, w.weights = make([]uint64, len(w.ends)), 0, false, 0, false, 0, nil
	w.ending, w.out = false, 0
}

// begin has a process begin the run.
func (w *world) begin(p *process) {
	l := *p.next
	p.next, p.began = nil, true
	for _, h := range p.keeper.Lacks(l.Me, l.From) {
		w.seen["from the disk"]++
		var all []Record
		for _, r := range w.stored[part{h.Key, h.Owner}] {
			all = append(all, r)
		}
		p.keeper.Loaded(h, all)
	}
	w.sends(p, p.keeper.Begin(l))
	if p.leaves && !w.replays() {
		w.sends(p, p.keeper.Leave())
	}
}

// restores gives a process's tasks what the run begins from, once all of that is there.
func (w *world) restores(p *process) bool {
	of, all := p.keeper.Restored()
	if !all {
		return false
	}
	p.restored = true
	w.ready++
	for _, t := range p.mine {
		r, is := of[t]
		from := p.keeper.life.From.From.Round
		if !is && from == 0 {
			continue
		}
		if n := min(from, w.ends[t]); !is || r.Task != t || r.Rounds != n || r.Ended != (n == w.ends[t]) ||
			len(r.Contents) != 1 || string(r.Contents[0].Bytes) != fmt.Sprint(w.run, " ", t, " ", n) {
			w.fail("life %d begins run %d from round %d, and task %d, which ends after %d, has the record %v", w.life, w.run, from, t, w.ends[t], r)
		}
		w.rounds[t] = r.Rounds
	}
	return true
}

// judge says what becomes of the cuts of a run whose tasks have all ended.
func (w *world) judge() {
	w.ending, w.verdict = true, Keeps
	if w.plan(w.run).From.Round == End { // it has one
		return
	}
	if v := w.r.IntN(6); v < 2 && !w.members[0].keeper.Wanted() {
		w.verdict = []Verdict{Stays, Forgot}[v]
	}
	if w.forgets() {
		w.whole[w.run-1] = 0
	}
}

// forgets reports whether the processes drop all cuts of the run, one after another.
func (w *world) forgets() bool { return w.ending && w.verdict == Forgot }

// endsRun has a process end the run, if it may. The chair asks for a cut at the end when none is under way.
func (w *world) endsRun(p *process) {
	if w.verdict == Keeps {
		if asking, _ := p.keeper.Asking(); p.me == 0 && !asking {
			w.sends(p, p.keeper.Ask(End))
		}
		if !p.keeper.Settled() {
			return
		}
	}
	if w.verdict == Forgot {
		p.keeper.Forget()
		w.seen["forgotten"]++
	}
	p.out = true
	if w.out++; w.out < len(w.members) || w.over {
		return
	}
	if w.run < len(w.runs) {
		w.beginsRun(w.run + 1)
		return
	}
	w.finished = true
}

// declares is a run, as the program declares it.
func (w *world) declares() (ends []uint64) {
	last := 1 + w.r.IntN(30)
	for range 1 + w.r.IntN(6) {
		ends = append(ends, uint64(last))
		if w.r.IntN(4) == 0 {
			ends[len(ends)-1] = uint64(w.r.IntN(last + 1))
		}
	}
	return ends
}
