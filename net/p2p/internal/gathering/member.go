package gathering

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// Key is one of several gatherings under a name.
type Key struct {
	Name  string
	Round uint64 // from 1
}

// Kind says what a message is.
type Kind uint8

const (
	// Give goes to the chair, with Blob.
	Give Kind = iota + 1
	// All comes from the chair, or goes to a new one, with List.
	All
)

// Message is what nodes say to each other.
type Message struct {
	Kind Kind
	Key  Key
	Blob []byte
	List [][]byte // by node; nil for those that had gone
}

// Letter is a message to a node, which may be the sender.
type Letter struct {
	To int
	Message
}

// ErrMessage is a message that no correct node sends.
var ErrMessage = errors.New("gathering: not a message of a correct node")

// MostOpen is how many gatherings one node may have begun that are not complete.
const MostOpen = 1 << 10

// Member is a node's part in gatherings. One goroutine at a time uses it.
type Member struct {
	me     int
	epoch  membership.Epoch
	rounds map[string]uint64  // how often this node has given under a name
	waits  map[Key][]byte     // what this node has given, until it gets all
	last   map[string]Message // the last list that it has got, under each name
	given  map[Key][][]byte   // as the chair
	open   []int              // of them, how many each node has given to
}

// New makes the part of node me in a run that begins with an epoch.
func New(me int, first membership.Epoch) *Member {
	return &Member{
		me: me, epoch: first, rounds: make(map[string]uint64), waits: make(map[Key][]byte),
		last: make(map[string]Message), given: make(map[Key][][]byte), open: make([]int, len(first.Seats)),
	}
}

// Begin gives something under a name. It copies the blob.
func (m *Member) Begin(name string, blob []byte) (Key, []Letter) {
	m.rounds[name]++
	k := Key{name, m.rounds[name]}
	m.waits[k] = append(make([]byte, 0, len(blob)), blob...) // not nil, if empty
	return k, m.toChair(m.gives(k))
}

func (m *Member) gives(k Key) Message { return Message{Kind: Give, Key: k, Blob: m.waits[k]} }

func (m *Member) toChair(what ...Message) (out []Letter) {
	if c := m.epoch.Chair(); c >= 0 {
		for _, w := range what {
			out = append(out, Letter{c, w})
		}
	}
	return out
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
	return m.takeAll(from, in)
}

// takeGift takes what a node gives. It may come before this node knows that it is the chair.
func (m *Member) takeGift(from int, in Message) ([]Letter, error) {
	k := in.Key
	if last := m.last[k.Name]; last.Key.Round >= k.Round {
		if last.Key.Round > k.Round { // the node has given it up
			return nil, nil
		}
		invariant.Sometimes(from != m.me, "a new chair has what a node waits for")
		return []Letter{{from, last}}, nil
	}
	list := m.given[k]
	switch {
	case list != nil && list[from] != nil:
		return nil, fmt.Errorf("%w: node %d gives to %q again", ErrMessage, from, k.Name)
	case m.open[from] >= MostOpen:
		return nil, fmt.Errorf("%w: node %d gives to %q, and %d others are not complete", ErrMessage, from, k.Name, m.open[from])
	case list == nil:
		list = make([][]byte, len(m.epoch.Seats))
		m.given[k] = list
	}
	list[from] = append(make([]byte, 0, len(in.Blob)), in.Blob...)
	m.open[from]++
	return m.finish(k), nil
}

// finish tells all nodes what they have given, if this node is the chair and all have.
func (m *Member) finish(k Key) (out []Letter) {
	if m.epoch.Chair() != m.me {
		return nil
	}
	list := m.given[k]
	for i, blob := range list {
		if m.epoch.Has(i) && blob == nil {
			return nil
		}
	}
	return m.hand(Message{Kind: All, Key: k, List: list})
}

// hand hands a list to the members that have given.
func (m *Member) hand(all Message) (out []Letter) {
	for i, blob := range m.given[all.Key] {
		if blob != nil {
			m.open[i]--
		}
		if blob != nil && m.epoch.Has(i) {
			out = append(out, Letter{i, all})
		}
	}
	delete(m.given, all.Key)
	return out
}

// takeAll takes a list. The chair may get it from a node that was quicker than this one.
func (m *Member) takeAll(from int, in Message) (out []Letter, done bool, err error) {
	k := in.Key
	if k.Round > m.rounds[k.Name] || len(in.List) != len(m.epoch.Seats) {
		return nil, false, fmt.Errorf("%w: node %d sends %d blobs of %q, to which this node has not given", ErrMessage, from, len(in.List), k.Name)
	}
	if k.Round <= m.last[k.Name].Key.Round {
		return nil, false, nil
	}
	m.last[k.Name] = in
	maps.DeleteFunc(m.waits, func(w Key, _ []byte) bool { return w.Name == k.Name && w.Round <= k.Round })
	if list := m.given[k]; list != nil {
		if list[m.me] != nil { // this node has it
			list[m.me] = nil
			m.open[m.me]--
		}
		out = m.hand(in)
		invariant.Sometimes(len(out) > 0, "a new chair hears of what a node waits for")
	}
	return out, true, nil
}

// Enter goes on to the next epoch.
func (m *Member) Enter(e membership.Epoch) (out []Letter) {
	before, now := m.epoch.Chair(), e.Chair()
	moved := before != now || now >= 0 && m.epoch.Seats[now].Life != e.Seats[now].Life
	m.epoch = e
	if moved {
		for _, k := range sorted(m.waits) {
			out = append(out, m.toChair(m.gives(k))...)
		}
		for _, name := range slices.Sorted(maps.Keys(m.last)) {
			if now != m.me {
				out = append(out, m.toChair(m.last[name])...)
			}
		}
	}
	for _, k := range sorted(m.given) {
		out = append(out, m.finish(k)...)
	}
	return out
}

// sorted are the keys of a map, in order.
func sorted[V any](of map[Key]V) []Key {
	return slices.SortedFunc(maps.Keys(of), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Round, b.Round))
	})
}
