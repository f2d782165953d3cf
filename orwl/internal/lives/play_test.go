package lives

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var seeds = rings.Seeds("lives.seeds", 2000, 1_000_000, "TestSeeds: seeds")

// world is some processes, which die, and a program of several runs. In each of them a task waits for its neighbours.
type world struct {
	t         *testing.T
	seed      uint64
	r         *rand.Rand
	runs      [][]uint64 // by run and task: its last round
	run       int        // the number of the one that goes on, from 1
	ends      []uint64   // of the run
	processes []*process
	life      uint64
	members   []*process // of the life, by number
	post      []sent
	over      bool           // the life ends
	whole     []uint64       // by run: the newest round that a chair has called whole
	kills     []int          // by run: members of the life that died before or since then
	deaths    int            // deaths that will come
	echoes    int            // ends of a life without a death that are still to come
	wants     int            // ends of a life that are wanted, and are still to come
	weighs    int            // ends of a life for other weights that are still to come
	leaves    int            // processes that will leave
	gone      int            // deaths of all that will come
	full      int            // parts that the disk will not take
	finished  bool           // all have left, or all runs are over
	disk      map[part]Found // parts on disk; nil: there is none
	stored    map[part]map[int]Record
	kept      [2]Key      // the last whole cuts on it
	last      map[int]Key // by run: the last one
	seen      map[string]int
	rounds    []uint64 // by task: how far it is in this life
	wholes    int      // of this run and life
	passed    bool     // a process has passed a cut of it
	wanted    bool     // the chair knows that the life's end is wanted
	weights   []int    // the chair ends the life for these; nil: it does not
	told      uint64   // the newest round of it that the chair has called whole
	ready     int      // processes that have what the run begins from
	reports   []Report // the life begins from them
	ending    bool     // all tasks of the run have ended
	verdict   Verdict  // then
	out       int      // processes that have ended the run
}

// process is one of the processes of a run.
type process struct {
	keeper   *Keeper
	dead     bool
	leaves   bool   // it wants to leave
	saving   *Found // it writes that to the disk
	records  []Record
	me       int
	mine     []int // tasks
	began    bool  // it has begun the run
	left     bool  // it has ended the life
	out      bool  // it has ended the run
	restored bool
	at       uint64 // the cut that its tasks are in
	next     *Life  // the run that it is about to begin
}

// sent is a message under way.
type sent struct {
	to *process
	Letter
	from int
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s", w.seed, fmt.Sprintf(format, args...))
}

// sends puts letters on their way.
func (w *world) sends(p *process, letters []Letter) {
	for _, l := range letters {
		if l.Kind == Whole && l.Last != (w.wanted || w.weights != nil && l.Round != End) {
			w.fail("%v is whole, and the last one %v of life %d, whose end is wanted %v, or for the weights %d", l.Key, l.Last, w.life, w.wanted, w.weights)
		}
		if l.Kind == Whole && l.Last && !slices.Equal(l.Weights, w.weights) {
			w.fail("%v is the last cut of life %d, which ends for the weights %d, and the chair tells of %d", l.Key, w.life, w.weights, l.Weights)
		}
		if l.Kind == Whole && l.To == 0 && l.Round <= w.told && (w.disk != nil || !w.allLeave()) {
			w.fail("the chair tells of a cut of round %d, and has told of one of round %d", l.Round, w.told)
		}
		if l.Kind == Whole && l.To == 0 {
			w.told = l.Round
			saved := 0
			for at, f := range w.disk {
				if at.Key == l.Key {
					saved += f.Tasks
				}
			}
			if w.disk != nil && saved != len(w.ends) {
				w.fail("the cut of round %d is whole, and %d tasks of %d are on disk", l.Round, saved, len(w.ends))
			}
		}
		if l.Kind == None && l.To == 0 {
			w.seen["no cut at the end"]++
		}
		if l.Kind == Whole && l.To == 0 && l.Round > w.whole[w.run-1] && !w.forgets() {
			w.whole[w.run-1], w.kills[w.run-1] = l.Round, 0
			for _, m := range w.members {
				if m.dead { // the life has not ended everywhere
					w.kills[w.run-1]++
				}
			}
			w.seen["whole"]++
			if l.Round == End {
				w.seen["whole at the end"]++
			}
			if len(w.members) > 1 {
				w.seen["whole of several"]++
			} else {
				w.seen["whole of one"]++
			}
			if w.wholes++; w.wholes == 3 {
				w.seen["three wholes in a life"]++
			}
			if w.passed {
				w.seen["whole after one that was passed"]++
			}
		}
		w.post = append(w.post, sent{w.members[l.To], l, p.me})
	}
}

// weigh has the chair look at what the nodes have done, once all have told it. It may end the life for that.
func (w *world) weigh(p *process) {
	all, is := p.keeper.Loads()
	if !is {
		return
	}
	if p.me != 0 || len(all) != len(w.members) {
		w.fail("node %d knows what %d nodes of %d have done", p.me, len(all), len(w.members))
	}
	for i, l := range all {
		if l.Units != i || l.Done != all[0].Done || l.Wall != int64(w.run) || l.Busy != int64(w.life) {
			w.fail("the loads %+v are not of one cut of run %d of life %d", all, w.run, w.life)
		}
	}
	if len(all) > 1 {
		w.seen["loads of several"]++
	}
	if w.weighs > 0 && w.weights == nil { // once in a life
		w.weighs--
		w.weights = nil
		for range w.members {
			w.weights = append(w.weights, 1+w.r.IntN(1000))
		}
		p.keeper.Weigh(w.weights)
	}
}

// allLeave reports whether all processes of the life leave.
func (w *world) allLeave() bool {
	return !slices.ContainsFunc(w.members, func(p *process) bool { return !p.leaves })
}

// takes takes a message. One for a process that has not begun the life waits.
func (w *world) takes(i int) {
	s := w.post[i]
	p := s.to
	if s.Life == w.life && s.Run == uint64(w.run) && p.next != nil {
		return // it comes when the process has begun the run
	}
	w.post = slices.Delete(w.post, i, i+1)
	if p.dead {
		return
	}
	if s.Life < w.life {
		w.seen["late"]++
	} else if s.Run < uint64(w.run) {
		w.seen["late of a run"]++
	}
	if round, is := p.keeper.Asks(s.Message); is && !p.out {
		w.keeps(p, func(k Key) bool { return k.Life < w.life || k.Round >= round || k == p.keeper.Whole() })
		w.asks(p, round)
		return
	}
	current := s.Life == w.life && s.Run == uint64(w.run)
	if !p.began || p.out {
		if s.Kind == Whole && s.Last && s.Life == w.life && !p.left {
			w.seen["over behind its run"]++
			w.leave(p)
		}
		return
	}
	w.wanted = w.wanted || current && (s.Kind == Want || s.Kind == Leave)
	w.sends(p, p.keeper.Take(s.from, s.Message))
	if s.Kind == Whole && s.Last && s.Life == w.life && !current {
		w.leave(p)
	}
	w.weigh(p)
	if s.Kind == Whole && current {
		w.keeps(p, func(k Key) bool { return s.Round == 0 || k.Life == w.life && k.Round >= s.Round })
		if w.disk != nil && s.Round > 0 {
			w.keep(p.keeper.Whole())
		}
		if p.keeper.Over() {
			w.seen["over"]++
			if got := p.keeper.Weights(); got != nil && !slices.Equal(got, w.weights) {
				w.fail("life %d ends for the weights %d, and node %d has heard of %d", w.life, w.weights, p.me, got)
			} else if got != nil {
				w.seen["over for other weights"]++
			}
			w.leave(p)
		}
	}
}

// saves has a process begin to write a part, or end that.
func (w *world) saves(p *process) {
	if p.saving == nil {
		if p.out {
			return
		}
		if f, records, is := p.keeper.Saves(); is {
			p.saving, p.records = &f, records
		}
		return
	}
	if w.full > 0 && w.r.IntN(4) == 0 {
		w.full--
		w.seen["disk full"]++
		if h := p.saving.Key; p.began && !p.out && h.Run == uint64(w.run) {
			w.sends(p, p.keeper.Passed(h.Round, h.Round))
		}
		p.saving = nil
		return
	}
	at := part{p.saving.Key, p.saving.Owner}
	w.disk[at], w.stored[at] = *p.saving, make(map[int]Record)
	for _, r := range p.records {
		w.stored[at][r.Task] = r
	}
	h := p.saving.Held
	if p.saving = nil; p.began && !p.out && h.Run == uint64(w.run) {
		w.sends(p, p.keeper.Saved(h))
	}
}

// keep drops the cuts on disk before the last two whole ones, but the last one of each run.
func (w *world) keep(whole Key) {
	if whole != w.kept[1] {
		w.kept[0], w.kept[1] = w.kept[1], whole
	}
	w.last[int(whole.Run)] = whole
	for at := range w.disk {
		last, known := w.last[int(at.Run)]
		if known && at.Compare(w.kept[1]) < 0 && at.Compare(w.kept[0]) < 0 && at.Key != last && (at.Compare(last) < 0 || at.Run < whole.Run) {
			delete(w.disk, at)
			delete(w.stored, at)
		}
	}
}

// dies has all processes die, and as many begin the run again from the disk.
func (w *world) dies() {
	n := len(w.living())
	w.processes, w.post, w.members = nil, nil, nil
	for range n {
		w.processes = append(w.processes, &process{keeper: NewKeeper(), left: true})
	}
	w.seen["all gone"]++
	clear(w.kills) // the whole cuts are on disk
	w.begins()
}

// keeps checks that a process keeps parts of no other cuts.
func (w *world) keeps(p *process, may func(Key) bool) {
	for at := range p.keeper.parts {
		if at.Run == uint64(w.run) && !may(at.Key) {
			w.fail("in life %d node %d keeps a part of %v, which nobody needs: it is in the cut of round %d, and %v is whole", w.life, p.me, at.Key, p.at, p.keeper.Whole())
		}
	}
}

// living are the processes that have not died.
func (w *world) living() []*process {
	return slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return p.dead })
}

// begins begins the next life, once all that live have ended the last one.
func (w *world) begins() {
	w.life++
	all := w.living()
	w.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	reports, leaves := make([]Report, len(all)), make([]bool, len(all))
	for i, p := range all {
		var found []Found
		for _, f := range w.disk {
			found = append(found, f)
		}
		p.keeper.Finds(found)
		reports[i], leaves[i] = p.keeper.Report(), p.leaves
	}
	stay := Stay(reports, leaves)
	if w.finished = len(stay) == 0; w.finished {
		w.seen["all leave"]++
		return
	}
	w.members = nil
	var kept []Report
	for i, p := range all {
		switch {
		case slices.Contains(stay, i):
			w.members, kept = append(w.members, p), append(kept, reports[i])
			if p.leaves {
				w.seen["stays for its copy"]++
			}
		case !p.leaves:
			w.fail("life %d begins without a node that does not leave", w.life)
		default: // its copies are lost
			p.dead = true
			w.dead()
			w.seen["has left"]++
		}
	}
	w.reports, w.over = kept, false
	for run, whole := range w.whole {
		from := w.plan(run + 1).From
		if all := Choose(reports, uint64(run+1), 0).From; from != all {
			w.fail("life %d begins run %d from %v, and from %v if nobody had left", w.life, run+1, from, all)
		}
		if w.kills[run] <= 1 && from.Round < whole {
			w.fail("life %d begins run %d from %v, although the cut of round %d was whole, and %d processes have died since", w.life, run+1, from, whole, w.kills[run])
		}
	}
	if Newest(kept).Run > 1 {
		w.seen["from a later run"]++
	}
	for _, p := range w.members {
		*p = process{keeper: p.keeper, leaves: p.leaves}
	}
	w.beginsRun(1)
}

// dead counts a death.
func (w *world) dead() {
	for run := range w.kills {
		w.kills[run]++
	}
}

// leave ends the life on a process.
func (w *world) leave(p *process) {
	p.keeper.End()
	p.next, p.began, p.left, p.out = nil, false, true, false
	if !slices.ContainsFunc(w.living(), func(p *process) bool { return !p.left }) {
		w.begins()
	}
}

// step does one thing that may happen, and reports whether the run is over.
func (w *world) step() bool {
	all := w.living()
	p := all[w.r.IntN(len(all))]
	switch c := w.r.IntN(100); {
	case c < 2 && w.deaths > 0 && len(all) > 1:
		w.deaths--
		w.dead()
		p.dead, w.over = true, true
		w.seen["death"]++
		if w.ready < len(w.members) {
			w.seen["death while restoring"]++
		}
	case c < 3 && w.echoes > 0:
		w.echoes--
		w.over = true
	case c < 20 && w.over:
		w.leave(p)
	case p.left:
	case p.next != nil:
		w.begin(p)
	case p.out:
		if len(w.post) > 0 {
			w.takes(w.r.IntN(len(w.post)))
		}
	case c < 22 && w.wants > 0 && !w.replays():
		w.wants--
		w.sends(p, p.keeper.Want())
	case c < 24 && w.leaves > 0 && !p.leaves:
		w.leaves--
		if p.leaves = true; !w.replays() {
			w.sends(p, p.keeper.Leave())
		}
	case c < 25 && w.disk != nil && w.gone > 0:
		w.gone--
		w.dies()
	case c < 30 && w.disk != nil && p.began:
		w.saves(p)
	case c < 60 && len(w.post) > 0:
		w.takes(w.r.IntN(len(w.post)))
	case !p.restored:
		w.restores(p)
	case w.ending:
		w.endsRun(p)
	case c < 65 && p.me == 0 && w.ready == len(w.members):
		if asking, furthest := p.keeper.Asking(); !asking {
			for _, t := range p.mine {
				furthest = max(furthest, w.rounds[t])
			}
			w.sends(p, p.keeper.Ask(furthest+1+uint64(w.r.IntN(3))))
		}
	case w.ready == len(w.members) && len(p.mine) > 0:
		if t := p.mine[w.r.IntN(len(p.mine))]; w.goes(t) {
			w.does(p, t)
		}
	}
	if !w.ending && !w.over && w.ready == len(w.members) && slices.Equal(w.rounds, w.ends) {
		w.judge()
	}
	return w.finished
}

// play plays a run with some deaths to its end.
func play(t *testing.T, seed uint64, seen map[string]int) {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &world{t: t, seed: seed, r: r, deaths: r.IntN(4), echoes: r.IntN(2), wants: r.IntN(3), leaves: r.IntN(3), weighs: r.IntN(3), seen: seen}
	if r.IntN(3) == 0 {
		w.disk, w.stored, w.last = make(map[part]Found), make(map[part]map[int]Record), make(map[int]Key)
		w.gone, w.full = r.IntN(3), r.IntN(2)
	}
	for range 1 + r.IntN(4) {
		w.processes = append(w.processes, &process{keeper: NewKeeper()})
	}
	for range 1 + r.IntN(3) {
		w.runs = append(w.runs, w.declares())
	}
	w.whole, w.kills = make([]uint64, len(w.runs)), make([]int, len(w.runs))
	w.begins()
	for n := 0; !w.step(); n++ {
		if n == 1_000_000 {
			w.fail("the run does not end")
		}
	}
}

// TestSeeds plays runs whose processes die at any time, and looks at what each life begins from.
func TestSeeds(t *testing.T) {
	seen := make(map[string]int)
	for seed := range seeds.All() {
		play(t, seed, seen)
	}
	for _, state := range []string{"whole", "whole of several", "whole of one", "three wholes in a life", "passed", "whole after one that was passed", "late", "from a cut", "death", "death while restoring",
		"over", "over for other weights", "loads of several", "has left", "stays for its copy", "all leave", "all gone", "from the disk",
		"whole at the end", "no cut at the end", "from a later run", "from the end of a run", "late of a run", "disk full", "forgotten"} {
		if seen[state] == 0 {
			t.Errorf("no run has seen %q: %v", state, seen)
		}
	}
}
