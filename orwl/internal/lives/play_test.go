package lives

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var seeds = rings.Seeds("lives.seeds", 2000, 1_000_000, "TestSeeds: seeds")

// world is a run of some processes, which die, and of a program in which each task waits for its neighbours.
type world struct {
	t         *testing.T
	seed      uint64
	r         *rand.Rand
	ends      []uint64 // by task: its last round
	processes []*process
	life      uint64
	members   []*process // of the life, by number
	post      []sent
	over      bool           // the life ends
	whole     uint64         // the newest round that a chair has called whole
	kills     int            // members of the life that died before or since then
	deaths    int            // deaths that will come
	echoes    int            // ends of a life without a death that are still to come
	wants     int            // ends of a life that are wanted, and are still to come
	leaves    int            // processes that will leave
	gone      int            // deaths of all that will come
	finished  bool           // all have left
	disk      map[part]Found // parts on disk; nil: there is none
	stored    map[part]map[int]Record
	kept      [2]Key // the last whole cuts on it
	seen      map[string]int
	rounds    []uint64 // by task: how far it is in this life
	wholes    int      // of this life
	passed    bool     // a process has passed a cut of this life
	wanted    bool     // the chair knows that its end is wanted
	told      uint64   // the newest round of it that the chair has called whole
	ready     int      // processes that have what the life begins from
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
	began    bool  // it has begun the life
	left     bool  // it has ended the life
	restored bool
	at       uint64 // the cut that its tasks are in
	next     *Life  // the life that it is about to begin
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
		if l.Kind == Whole && l.Last != w.wanted {
			w.fail("the cut of round %d is whole, and the last one %v of life %d, whose end is wanted %v", l.Round, l.Last, w.life, w.wanted)
		}
		if l.Kind == Whole && l.To == 0 && l.Round <= w.told && (w.disk != nil || !w.allLeave()) {
			w.fail("the chair tells of a cut of round %d, and has told of one of round %d", l.Round, w.told)
		}
		if l.Kind == Whole && l.To == 0 {
			w.told = l.Round
			saved := 0
			for at, f := range w.disk {
				if at.Key == (Key{w.life, l.Round}) {
					saved += f.Tasks
				}
			}
			if w.disk != nil && saved != len(w.ends) {
				w.fail("the cut of round %d is whole, and %d tasks of %d are on disk", l.Round, saved, len(w.ends))
			}
		}
		if l.Kind == Whole && l.To == 0 && l.Round > w.whole {
			w.whole, w.kills = l.Round, 0
			for _, m := range w.members {
				if m.dead { // the life has not ended everywhere
					w.kills++
				}
			}
			w.seen["whole"]++
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

// allLeave reports whether all processes of the life leave.
func (w *world) allLeave() bool {
	return !slices.ContainsFunc(w.members, func(p *process) bool { return !p.leaves })
}

// record is what a task adds to a cut.
func (w *world) record(task int) Record {
	n := w.rounds[task]
	return Record{Task: task, Rounds: n, Ended: n == w.ends[task], Contents: []Content{{task, []byte(fmt.Sprint(task, " ", n))}}}
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
	p.keeper.Grow(round)
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

// takes takes a message. One for a process that has not begun the life waits.
func (w *world) takes(i int) {
	s := w.post[i]
	p := s.to
	if s.Life == w.life && p.next != nil {
		return // it comes when the process has begun the life
	}
	w.post = slices.Delete(w.post, i, i+1)
	if p.dead {
		return
	}
	if s.Life < w.life {
		w.seen["late"]++
	}
	if round, is := p.keeper.Asks(s.Message); is {
		w.keeps(p, func(k Key) bool { return k.Life < w.life || k.Round >= round || k == p.keeper.Whole() })
		w.asks(p, round)
		return
	}
	w.wanted = w.wanted || s.Life == w.life && (s.Kind == Want || s.Kind == Leave)
	w.sends(p, p.keeper.Take(s.from, s.Message))
	if s.Kind == Whole && s.Life == w.life && p.began {
		w.keeps(p, func(k Key) bool { return s.Round == 0 || k.Life == w.life && k.Round >= s.Round })
		if w.disk != nil && s.Round > 0 {
			w.keep(p.keeper.Whole())
		}
		if p.keeper.Over() {
			w.seen["over"]++
			w.leave(p)
		}
	}
}

// saves has a process begin to write a part, or end that.
func (w *world) saves(p *process) {
	if p.saving == nil {
		if f, records, is := p.keeper.Saves(); is {
			p.saving, p.records = &f, records
		}
		return
	}
	at := part{p.saving.Key, p.saving.Owner}
	w.disk[at], w.stored[at] = *p.saving, make(map[int]Record)
	for _, r := range p.records {
		w.stored[at][r.Task] = r
	}
	h := p.saving.Held
	if p.saving = nil; p.began {
		w.sends(p, p.keeper.Saved(h))
	}
}

// keep drops the cuts on disk before the last two whole ones.
func (w *world) keep(whole Key) {
	if whole != w.kept[1] {
		w.kept[0], w.kept[1] = w.kept[1], whole
	}
	for at := range w.disk {
		if at.Key.compare(w.kept[1]) < 0 && at.Key.compare(w.kept[0]) < 0 {
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
	w.kills = 0 // a whole cut is on disk
	w.begins()
}

// keeps checks that a process keeps parts of no other cuts.
func (w *world) keeps(p *process, may func(Key) bool) {
	for at := range p.keeper.parts {
		if !may(at.Key) {
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
			w.kills++
			w.seen["has left"]++
		}
	}
	plan := Choose(kept)
	if from := Choose(reports).From; plan.From != from {
		w.fail("life %d begins from %v, and from %v if nobody had left", w.life, plan.From, from)
	}
	if w.kills <= 1 && plan.From.Round < w.whole {
		w.fail("life %d begins from %v, although the cut of round %d was whole, and %d processes have died since", w.life, plan.From, w.whole, w.kills)
	}
	if plan.From.Round > 0 {
		w.seen["from a cut"]++
	}
	on := make([]int, len(w.ends))
	for t := range on {
		on[t] = w.r.IntN(len(w.members))
	}
	buddy := make([]int, len(w.members))
	for i := range buddy {
		buddy[i] = (i + 1) % len(w.members)
	}
	w.over = false
	for i, p := range w.members {
		*p = process{keeper: p.keeper, leaves: p.leaves}
		for t, n := range on {
			if n == i {
				p.mine = append(p.mine, t)
			}
		}
		p.me, p.next = i, &Life{
			Number: w.life, Me: i, Nodes: len(w.members), Buddy: buddy, Total: len(on), Mine: len(p.mine),
			On: func(t int) int { return on[t] }, From: plan, Disk: w.disk != nil,
		}
	}
	w.rounds, w.ready, w.passed, w.wholes, w.wanted, w.told = make([]uint64, len(w.ends)), 0, false, 0, false, 0
}

// begin has a process begin the life.
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
	if p.leaves {
		w.sends(p, p.keeper.Leave())
	}
}

// restores gives a process's tasks what the life begins from, once all of that is there.
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
			len(r.Contents) != 1 || string(r.Contents[0].Bytes) != fmt.Sprint(t, " ", n) {
			w.fail("life %d begins from round %d, and task %d, which ends after %d, has the record %v", w.life, from, t, w.ends[t], r)
		}
		w.rounds[t] = r.Rounds
	}
	return true
}

// leave ends the life on a process.
func (w *world) leave(p *process) {
	p.keeper.End()
	p.next, p.began, p.left = nil, false, true
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
		w.kills++
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
	case c < 22 && w.wants > 0:
		w.wants--
		w.sends(p, p.keeper.Want())
	case c < 24 && w.leaves > 0 && !p.leaves:
		w.leaves--
		p.leaves = true
		w.sends(p, p.keeper.Leave())
	case c < 25 && w.disk != nil && w.gone > 0:
		w.gone--
		w.dies()
	case c < 30 && w.disk != nil && p.began:
		w.saves(p)
	case c < 60 && len(w.post) > 0:
		w.takes(w.r.IntN(len(w.post)))
	case !p.restored:
		w.restores(p)
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
	return w.finished || !w.over && w.ready == len(w.members) && slices.Equal(w.rounds, w.ends)
}

// play plays a run with some deaths to its end.
func play(t *testing.T, seed uint64, seen map[string]int) {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &world{t: t, seed: seed, r: r, deaths: r.IntN(4), echoes: r.IntN(2), wants: r.IntN(3), leaves: r.IntN(3), seen: seen}
	if r.IntN(3) == 0 {
		w.disk, w.stored, w.gone = make(map[part]Found), make(map[part]map[int]Record), r.IntN(3)
	}
	for range 1 + r.IntN(4) {
		w.processes = append(w.processes, &process{keeper: NewKeeper()})
	}
	last := 1 + r.IntN(30)
	for range 1 + r.IntN(6) {
		w.ends = append(w.ends, uint64(last))
		if r.IntN(4) == 0 {
			w.ends[len(w.ends)-1] = uint64(r.IntN(last + 1))
		}
	}
	w.begins()
	for n := 0; !w.step(); n++ {
		if n == 1_000_000 {
			w.fail("the run does not end")
		}
	}
	w.ended()
}

// ended checks that no cut is under way when all tasks have ended, and all messages have come: each task has its record.
func (w *world) ended() {
	life := w.life
	for busy := true; busy && !w.finished && w.life == life; {
		busy = len(w.post) > 0
		if busy {
			w.takes(w.r.IntN(len(w.post)))
		}
		for _, p := range w.members {
			if w.disk != nil {
				w.saves(p)
				busy = busy || p.saving != nil || len(w.post) > 0
			}
		}
	}
	if w.finished || w.life > life {
		return
	}
	if asking, _ := w.members[0].keeper.Asking(); asking {
		w.fail("all tasks have ended, and the chair still waits for a cut of life %d", w.life)
	}
}

// TestSeeds plays runs whose processes die at any time, and looks at what each life begins from.
func TestSeeds(t *testing.T) {
	seen := make(map[string]int)
	for seed := range seeds.All() {
		play(t, seed, seen)
	}
	for _, state := range []string{"whole", "whole of several", "whole of one", "three wholes in a life", "passed", "whole after one that was passed", "late", "from a cut", "death", "death while restoring",
		"over", "has left", "stays for its copy", "all leave", "all gone", "from the disk"} {
		if seen[state] == 0 {
			t.Errorf("no run has seen %q: %v", state, seen)
		}
	}
}
