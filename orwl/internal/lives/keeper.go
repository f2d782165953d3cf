package lives

import (
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// Life is a run of the program in a life, as one of the nodes sees it.
type Life struct {
	Number  uint64
	Run     uint64
	Program uint64 // see Held
	Me      int
	Nodes   int
	Buddy   []int              // by node: which one keeps a copy of its records; nil if there is one node
	Total   int                // tasks of the run
	Mine    int                // tasks of this node
	Disk    bool               // a cut is whole only when each owner has saved its part, too
	On      func(task int) int // the node of a task
	From    Plan
}

// Letter is a message and the node that gets it.
type Letter struct {
	To int
	Message
}

// Keeper keeps the records of a node, through all lives. One goroutine at a time uses it. Each method returns
// the messages to send. Letters to this node itself are among them.
type Keeper struct {
	life  Life
	began bool
	parts map[part]*records
	whole Key     // the newest whole cut of this run and life that this node knows of
	asked uint64  // the round of the last cut of this run that this node was asked for
	over  bool    // the life ends with the newest whole cut
	none  bool    // the run has no cut at its end
	next  []int   // weights of the nodes in the next life, if over is set; nil: they stay
	found []Found // parts on disk
	save  []part  // parts of this node that wait to be saved
	chair chair

	forgot map[uint64]bool // runs that have ended, and whose cuts are dropped: see Forget
}

// NewKeeper makes a keeper that keeps nothing.
func NewKeeper() *Keeper {
	return &Keeper{parts: make(map[part]*records), forgot: make(map[uint64]bool)}
}

// Begin begins a run. The records that this node sends go to the new owners of their tasks.
func (k *Keeper) Begin(l Life) (out []Letter) {
	k.End()
	k.life, k.asked, k.whole, k.began, k.over, k.none, k.save = l, 0, Key{}, true, false, false, nil
	delete(k.forgot, l.Run)
	k.chair = chair{have: make(map[int]int), saved: make(map[int]int), leave: make(map[int]bool), did: make(map[int]balance.Load)}
	if l.From.From == (Key{}) {
		return nil
	}
	k.chair.asked = l.From.From.Round
	k.grow(l.From.From.Round)
	for _, h := range l.From.Holders {
		if h.Node != l.Me {
			continue
		}
		old := k.parts[part{l.From.From, h.Owner}]
		for _, task := range slices.Sorted(maps.Keys(old.of)) {
			to := l.On(task)
			out = append(out, Letter{to, k.part(l.From.From.Round, to, old.of[task])})
		}
	}
	return out
}

// End ends the run. Only complete parts are left.
func (k *Keeper) End() {
	k.began = false
	maps.DeleteFunc(k.parts, func(_ part, r *records) bool { return !r.complete() })
}

// Report is what this node tells the others when a life has ended. Found says what is on disk.
func (k *Keeper) Report() Report {
	var r Report
	for _, of := range k.parts {
		r.Parts = append(r.Parts, of.Held)
	}
	for _, f := range k.found {
		if k.parts[part{f.Key, f.Owner}] == nil && !k.forgot[f.Run] {
			r.Parts = append(r.Parts, f.Held)
		}
	}
	return r
}

// Found is a part on disk, of a program that was declared for so many processors.
type Found struct {
	Held
	Processors int `msgpack:"processors"`
}

// Finds notes which parts are on disk.
func (k *Keeper) Finds(parts []Found) { k.found = parts }

// Lacks are the parts that this node is to send when a run begins with a plan, and has on disk only. The caller loads them: see Loaded.
func (k *Keeper) Lacks(me int, p Plan) (all []Held) {
	for _, f := range k.found {
		if f.Key == p.From && k.parts[part{f.Key, f.Owner}] == nil && slices.Contains(p.Holders, Holder{f.Owner, me}) {
			all = append(all, f.Held)
		}
	}
	return all
}

// Loaded takes the records of a part that was on disk.
func (k *Keeper) Loaded(h Held, all []Record) {
	of := &records{h, make(map[int]Record)}
	for _, r := range all {
		of.of[r.Task] = r
	}
	k.parts[part{h.Key, h.Owner}] = of
}

// Saves is a part of this node that waits for the disk. The caller calls Saved when it is there.
func (k *Keeper) Saves() (f Found, all []Record, is bool) {
	if len(k.save) == 0 {
		return f, nil, false
	}
	p := k.save[0]
	k.save = k.save[1:]
	of := k.parts[p]
	if of == nil { // the cut was given up
		return k.Saves()
	}
	return Found{Held: of.Held}, slices.SortedFunc(maps.Values(of.of), func(a, b Record) int { return a.Task - b.Task }), true
}

// Saved tells the chair that the part of this node is on disk.
func (k *Keeper) Saved(h Held) []Letter {
	return []Letter{{0, Message{Kind: Have, Key: h.Key, Owner: h.Owner, Tasks: h.Tasks, Saved: true}}}
}

// Restored returns the records of this node's tasks that the run begins from, and whether all of them are here. It is
// asked until they are.
func (k *Keeper) Restored() (of map[int]Record, all bool) {
	if k.life.From.From == (Key{}) {
		return nil, true
	}
	r := k.parts[part{k.key(k.life.From.From.Round), k.life.Me}]
	return r.of, r.complete()
}

// key is a cut of this run and life.
func (k *Keeper) key(round uint64) Key { return Key{k.life.Number, k.life.Run, round} }

// current reports whether something is of this run and life. The round does not matter.
func (k *Keeper) current(of Key) bool {
	return k.began && of.Life == k.life.Number && of.Run == k.life.Run
}

// records are no records yet of a part.
func (k *Keeper) records(p part, tasks int) *records {
	return &records{Held{p.Key, p.owner, tasks, k.life.Total, k.life.Program}, make(map[int]Record)}
}

// part is a record as a message. The owner knows itself how many tasks it has.
func (k *Keeper) part(round uint64, owner int, r Record) Message {
	return Message{Kind: Part, Key: k.key(round), Owner: owner, Tasks: k.life.Mine, Record: r}
}

// grow begins a cut on this node: it takes records of its own tasks from now on.
func (k *Keeper) grow(round uint64) {
	k.asked = round
	p := part{k.key(round), k.life.Me}
	k.parts[p] = k.records(p, k.life.Mine)
}

// Passed says that this node's tasks are beyond the cut, up to a round, and some have not recorded it. If that round is 0, the node could not keep
// its part.
func (k *Keeper) Passed(round, most uint64) []Letter {
	return []Letter{{0, Message{Kind: Past, Key: k.key(round), Most: most}}}
}

// Add adds a record of one of this node's tasks to a cut.
func (k *Keeper) Add(round uint64, r Record) []Letter {
	return k.adds(part{k.key(round), k.life.Me}, k.life.Mine, r)
}

// adds adds a record to a part. The buddy gets the records of this node's own tasks, too.
func (k *Keeper) adds(p part, tasks int, r Record) (out []Letter) {
	of := k.parts[p]
	if of == nil {
		of = k.records(p, tasks)
		k.parts[p] = of
	}
	if _, twice := of.of[r.Task]; twice {
		return nil
	}
	of.of[r.Task] = r
	if p.owner == k.life.Me && k.life.Nodes > 1 {
		out = append(out, Letter{k.life.Buddy[k.life.Me], k.part(p.Round, k.life.Me, r)})
	}
	return append(out, k.completed(p)...)
}

// completed tells the chair of a part that is complete, and has another holder where there is one: the buddy tells of it.
func (k *Keeper) completed(p part) []Letter {
	of := k.parts[p]
	if !of.complete() {
		return nil
	}
	if p.owner == k.life.Me {
		if k.life.Disk {
			k.save = append(k.save, p)
		}
		if k.life.Nodes > 1 {
			return nil
		}
	}
	return []Letter{{0, Message{Kind: Have, Key: p.Key, Owner: p.owner, Tasks: of.Tasks}}}
}

// Asks begins the cut that a message asks for, and returns its round. It does not if the message asks for no new cut. The chair has
// given up all earlier cuts that are not whole. See Passed.
func (k *Keeper) Asks(m Message) (round uint64, is bool) {
	if m.Kind != Ask || !k.current(m.Key) || m.Round <= k.asked {
		return 0, false
	}
	k.drop(m.Most)
	maps.DeleteFunc(k.parts, func(p part, _ *records) bool { return p.Run == m.Run && p.Round < m.Round && p.Round != m.Most })
	k.grow(m.Round)
	return m.Round, true
}

// Take takes a message.
func (k *Keeper) Take(from int, m Message) (out []Letter) {
	if !k.current(m.Key) {
		invariant.Sometimes(m.Life < k.life.Number, "a message of a former life")
		invariant.Sometimes(m.Life == k.life.Number, "a message of a former run")
		return nil
	}
	switch m.Kind {
	case Past:
		if k.chair.past(m) && m.Round == End {
			return k.tellAll(Message{Kind: None, Key: m.Key})
		}
	case None:
		k.none = true
	case Part:
		if m.Round < k.asked {
			return nil // the chair has given up that cut
		}
		return k.adds(part{m.Key, m.Owner}, m.Tasks, m.Record)
	case Have:
		if k.chair.has(m, k.life.Total, k.life.Disk) {
			return k.tellWhole()
		}
	case Whole:
		k.drop(m.Round)
		k.over = m.Last
		k.next = m.Weights
	case Did:
		k.chair.does(from, m)
	case Want:
		k.chair.want = true
	case Leave:
		k.chair.want = true
		if k.chair.leave[from] = true; len(k.chair.leave) == k.life.Nodes && !k.life.Disk {
			return k.tellWhole() // no node goes on, so no node needs another cut
		}
	}
	return out
}

// tellWhole has the chair tell all nodes of the newest whole cut. The end of a run needs no other weights: it may be the last one.
func (k *Keeper) tellWhole() []Letter {
	m := Message{Kind: Whole, Key: k.key(k.chair.whole), Last: k.chair.want}
	if m.Last || k.chair.weights != nil && k.chair.whole != End {
		m.Last, m.Weights = true, k.chair.weights
	}
	return k.tellAll(m)
}

// tellAll has the chair tell all nodes.
func (k *Keeper) tellAll(m Message) (out []Letter) {
	for i := range k.life.Nodes {
		out = append(out, Letter{i, m})
	}
	return out
}

// Want has the life end with the next whole cut, and Leave, too: this node is not in the next one then, if the others can do
// without it.
func (k *Keeper) Want() []Letter  { return []Letter{{0, Message{Kind: Want, Key: k.key(0)}}} }
func (k *Keeper) Leave() []Letter { return []Letter{{0, Message{Kind: Leave, Key: k.key(0)}}} }

// Did tells the chair what this node has done in this run and life, when it begins a cut.
func (k *Keeper) Did(round uint64, l balance.Load) []Letter {
	return []Letter{{0, Message{Kind: Did, Key: k.key(round), Load: l}}}
}

// Loads is what all nodes have done until a cut, by node, once all have told the chair. It is for node 0.
func (k *Keeper) Loads() (all []balance.Load, is bool) {
	if len(k.chair.did) < k.life.Nodes {
		return nil, false
	}
	for i := range k.life.Nodes {
		all = append(all, k.chair.did[i])
	}
	clear(k.chair.did)
	return all, true
}

// Weigh has the chair end the life with the next whole cut. The nodes have these weights then.
func (k *Keeper) Weigh(weights []int) { k.chair.weights = weights }

// Weights are the weights of this life's nodes in the next one, if it is over. They are nil if they stay as they are.
func (k *Keeper) Weights() []int { return k.next }

// Over reports whether this life ends with its newest whole cut. The caller ends it.
func (k *Keeper) Over() bool { return k.over }

// drop drops the cuts of this run before a whole one of this life.
func (k *Keeper) drop(whole uint64) {
	if whole > k.whole.Round {
		k.whole, k.asked = k.key(whole), max(k.asked, whole)
		maps.DeleteFunc(k.parts, func(p part, _ *records) bool {
			return p.Run == k.whole.Run && (p.Life < k.whole.Life || p.Round < k.whole.Round)
		})
	}
}

// Whole is the newest cut of this run and life that this node knows to be whole, the zero Key if there is none.
func (k *Keeper) Whole() Key { return k.whole }

// Ask has the chair ask for a cut after a round, or at the End of the run when all tasks have ended. It is for node 0, if no cut is under way.
func (k *Keeper) Ask(round uint64) []Letter {
	if k.life.Total == 0 { // a program without tasks has no parts, so its cuts are whole
		k.chair.whole = round
		return k.tellWhole()
	}
	k.chair.asked = round
	clear(k.chair.have)
	clear(k.chair.saved)
	return k.tellAll(Message{Kind: Ask, Key: k.key(round), Most: k.chair.whole})
}

// Asking reports whether a cut is under way, or none can follow, and the furthest round that the chair knows of. Wanted reports whether a node
// waits for the next one.
func (k *Keeper) Asking() (asking bool, furthest uint64) {
	furthest = max(k.chair.most, k.chair.whole)
	return k.chair.asked > 0 || furthest == End, furthest
}
func (k *Keeper) Wanted() bool { return k.chair.want }

// chair is what node 0 knows of the cut that is under way.
type chair struct {
	asked uint64       // its round; 0: none is
	whole uint64       // the round of the last one
	have  map[int]int  // by owner: its tasks, if its buddy has their records
	saved map[int]int  // by owner: its tasks, if it has saved their records
	most  uint64       // how far a node was that had passed a cut
	want  bool         // the life ends with the next whole cut
	leave map[int]bool // nodes that leave then

	did     map[int]balance.Load // by node: what it had done when it began a cut
	until   uint64               // the round of that cut
	weights []int                // of the next life, if this one ends for that
}

// does takes what a node has done until a cut.
func (c *chair) does(from int, m Message) {
	if m.Round > c.until {
		c.until = m.Round
		clear(c.did)
	}
	if m.Round == c.until {
		c.did[from] = m.Load
	}
}

// past takes the word of a node that the cut cannot be, and reports whether that cut was under way.
func (c *chair) past(m Message) bool {
	c.most = max(c.most, m.Most)
	if m.Round != c.asked {
		return false
	}
	c.asked, c.most = 0, max(c.most, m.Round) // no node takes a cut of that round any more
	return true
}

// has takes the word of a holder, and reports whether the cut is whole.
func (c *chair) has(m Message, total int, disk bool) bool {
	if m.Round != c.asked {
		return false
	}
	of := c.have
	if m.Saved {
		of = c.saved
	}
	of[m.Owner] = m.Tasks
	if sum(c.have) < total || disk && sum(c.saved) < total {
		return false
	}
	c.asked, c.whole = 0, m.Round
	return true
}

func sum(of map[int]int) (n int) {
	for _, tasks := range of {
		n += tasks
	}
	return n
}
