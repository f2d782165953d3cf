package gathering

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// MostOpen is how many gatherings one node may have begun that are not complete.
const MostOpen = 1 << 10

// Member is a node's part in gatherings. One goroutine at a time uses it.
type Member struct {
	me     int
	epoch  membership.Epoch
	rounds map[string]uint64  // the last round under a name that this node has given to
	waits  map[Key]*Message   // the gifts of this node, until it gets the list
	last   map[string]Message // the last list that it has got, under each name
	given  map[Key]*gifts     // the gifts of all nodes; only the chair has some
	handed map[Key]Message    // the lists of this chair that are on their way to itself
	open   []int              // by node: the number of gatherings in given that it has given to

	// Moved, if not nil, is told that what this node has given is for another round: the first one
	// was over before this life came in.
	Moved func(was, is Key)
}

// gifts are what nodes have given to one gathering.
type gifts struct {
	of    []gift // by node
	among []uint64
}

// gift is what one node has given; blob is nil if it has not.
type gift struct {
	life uint64
	try  uint64
	blob []byte
}

// New makes the part of node me in a run. The epoch is the first one that it takes part in.
func New(me int, first membership.Epoch) *Member {
	return &Member{
		me: me, epoch: first, rounds: make(map[string]uint64), waits: make(map[Key]*Message),
		last: make(map[string]Message), given: make(map[Key]*gifts), handed: make(map[Key]Message), open: make([]int, len(first.Seats)),
	}
}

// Begin gives something under a name, in the next round. It copies the blob. A new chair may know the
// list of a round to which this life has not given: the round was over before this life came in.
func (m *Member) Begin(name string, blob []byte) (Key, []Letter) {
	k := Key{name, max(m.rounds[name], m.last[name].Key.Round) + 1}
	return k, m.BeginAt(k, blob, nil)
}

// BeginAt gives something in a round that is later than all in which this node has given. Only
// some lives must give. Each of them that is still a member must give to the later rounds of that
// name, too: see doc.go, "When the chair is lost".
func (m *Member) BeginAt(k Key, blob []byte, among []uint64) []Letter {
	invariant.Check(k.Round > m.rounds[k.Name], "round %d of %q, after round %d", k.Round, k.Name, m.rounds[k.Name])
	m.rounds[k.Name] = k.Round
	m.waits[k] = &Message{Kind: Give, Key: k, Among: among}
	return m.Change(k, blob)
}

// Change gives something else, unless this node has got the list. Whether it came in time, the
// list tells.
func (m *Member) Change(k Key, blob []byte) []Letter {
	g := m.waits[k]
	if g == nil {
		return nil
	}
	g.Try++
	g.Blob = append(make([]byte, 0, len(blob)), blob...) // an empty blob is not nil
	return m.toChair(*g)
}

func (m *Member) toChair(what Message) []Letter {
	if c := m.epoch.Chair(); c >= 0 {
		return []Letter{{c, what}}
	}
	return nil
}

// Step takes a message, and returns those to send. Done says that in has what this node
// waited for. A node that takes no part any more is not heard: the new chair has been told what this
// node waits for.
func (m *Member) Step(from int, in Message) (out []Letter, done bool, err error) {
	switch {
	case !m.epoch.Has(from):
		invariant.Sometimes(in.Kind == All, "a list of a chair that is lost")
		return nil, false, nil
	case in.Kind == Give:
		out, err = m.takeGift(from, in)
		return out, false, err
	}
	out, done = m.takeAll(in)
	return out, done, nil
}

// takeGift takes what a node gives. It may come before this node knows that it is the chair.
func (m *Member) takeGift(from int, in Message) ([]Letter, error) {
	k := in.Key
	life := m.epoch.Seats[from].Life
	if last := m.last[k.Name]; last.Key.Round >= k.Round {
		if last.Key.Round > k.Round && !m.before(last, from) { // the node has given it up
			return nil, nil
		}
		invariant.Sometimes(from != m.me, "a new chair has what a node waits for")
		return []Letter{{from, last}}, nil
	}
	if all, is := m.handed[k]; is {
		invariant.Sometimes(true, "a gift is changed too late")
		return []Letter{{from, all}}, nil
	}
	all := m.given[k]
	if all == nil {
		all = &gifts{of: make([]gift, len(m.epoch.Seats))}
	}
	had := all.of[from]
	switch {
	case in.Among != nil && in.Among[from] != life:
		return nil, fmt.Errorf("%w: node %d gives to %q, which is not for it", ErrMessage, from, k.Name)
	case had.blob == nil && m.open[from] >= MostOpen:
		return nil, fmt.Errorf("%w: node %d gives to %q, and %d others are not complete", ErrMessage, from, k.Name, m.open[from])
	case had.blob == nil:
		m.open[from]++
	case in.Try == had.try:
		return nil, fmt.Errorf("%w: node %d gives to %q again", ErrMessage, from, k.Name)
	case in.Try < had.try:
		invariant.Sometimes(true, "a gift overtakes the one before")
		return nil, nil
	}
	m.given[k] = all
	all.among = in.Among
	all.of[from] = gift{life, in.Try, append(make([]byte, 0, len(in.Blob)), in.Blob...)}
	return m.finish(k), nil
}

// finish tells all nodes what they have given, if this node is the chair and all have.
func (m *Member) finish(k Key) (out []Letter) {
	all := m.given[k]
	if m.epoch.Chair() != m.me {
		return nil
	}
	list := make([][]byte, len(all.of))
	for i, g := range all.of {
		if g.blob == nil && m.epoch.Has(i) && (all.among == nil || all.among[i] == m.epoch.Seats[i].Life) {
			return nil
		}
		list[i] = g.blob
	}
	whole := Message{Kind: All, Key: k, List: list, Epoch: m.epoch.Number}
	if list[m.me] != nil {
		m.handed[k] = whole
	} else if m.last[k.Name].Key.Round < k.Round { // this node gets none: it notes that there is one
		m.last[k.Name] = whole
	}
	return m.hand(k, whole)
}

// hand hands a list to the members that have given to a round.
func (m *Member) hand(k Key, all Message) (out []Letter) {
	for i, g := range m.given[k].of {
		if m.epoch.Has(i) && g.life == m.epoch.Seats[i].Life {
			m.open[i]--
			out = append(out, Letter{i, all})
		}
	}
	delete(m.given, k)
	return out
}

// before reports whether a list was complete before the life of a node came in.
func (m *Member) before(all Message, node int) bool { return all.Epoch < m.epoch.Seats[node].Since }

// takeAll takes a list. The chair may get it from a node that was quicker than this one. A list
// to which this node has not given is kept for those that have.
func (m *Member) takeAll(in Message) (out []Letter, done bool) {
	k := in.Key
	delete(m.handed, k)
	if k.Round <= m.last[k.Name].Key.Round {
		return nil, false
	}
	m.last[k.Name] = in
	w := m.waits[k]
	done = w != nil && !m.before(in, m.me)
	if m.before(in, m.me) {
		out = m.move(k)
	}
	maps.DeleteFunc(m.waits, func(w Key, _ *Message) bool { return w.Name == k.Name && w.Round <= k.Round })
	for _, g := range sorted(m.given) {
		if g == k || g.Name == k.Name && g.Round < k.Round && m.given[g].among == nil { // of a new life
			out = append(out, m.hand(g, in)...)
			invariant.Sometimes(g == k, "a new chair hears of what a node waits for")
		}
	}
	return out, done
}

// move gives what this node has given last, up to a round that was over before, to the next one.
func (m *Member) move(over Key) []Letter {
	round := m.rounds[over.Name]
	was := Key{over.Name, round}
	g := m.waits[was]
	if round > over.Round || g == nil {
		return nil
	}
	is := Key{over.Name, over.Round + 1}
	m.rounds[over.Name] = is.Round
	g.Key = is
	m.waits[is] = g
	if m.Moved != nil {
		m.Moved(was, is)
	}
	return m.toChair(*g)
}

// Enter goes on to the next epoch, or a later one.
func (m *Member) Enter(e membership.Epoch) (out []Letter) {
	before := m.epoch
	m.epoch = e
	for i, s := range e.Seats {
		if s.Life != before.Seats[i].Life {
			m.succeed(i)
		}
	}
	if e.Chair() != before.Chair() { // the new one has been told nothing: it is no new life, for this node is more senior than those
		for _, k := range sorted(m.waits) {
			out = append(out, m.toChair(*m.waits[k])...)
		}
		for _, name := range slices.Sorted(maps.Keys(m.last)) {
			out = append(out, m.toChair(m.last[name])...)
		}
	}
	for _, k := range sorted(m.given) {
		out = append(out, m.finish(k)...)
	}
	return out
}

// succeed forgets what the life of a node before this one has given, where this one must give.
func (m *Member) succeed(node int) {
	m.open[node] = 0
	for _, all := range m.given {
		if all.among == nil {
			all.of[node] = gift{}
		}
	}
}

// Forget forgets what was gathered under some names, also what is not complete. No node waits for a list of these names any more, or gives to one.
func (m *Member) Forget(over func(name string) bool) {
	maps.DeleteFunc(m.last, func(name string, _ Message) bool { return over(name) })
	maps.DeleteFunc(m.rounds, func(name string, _ uint64) bool { return over(name) })
	maps.DeleteFunc(m.waits, func(k Key, _ *Message) bool { return over(k.Name) })
	maps.DeleteFunc(m.given, func(k Key, all *gifts) bool {
		if !over(k.Name) {
			return false
		}
		for i, g := range all.of {
			if g.life == m.epoch.Seats[i].Life { // or that node has not come yet: succeed counts anew
				m.open[i]--
			}
		}
		return true
	})
}

// sorted are the keys of a map, in order.
func sorted[V any](of map[Key]V) []Key {
	return slices.SortedFunc(maps.Keys(of), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Round, b.Round))
	})
}
