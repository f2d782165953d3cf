package orwl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// lifeNode is the network as a life of the run sees it. Its nodes are numbered from 0 without gaps, whatever seats they
// have in the network. Nothing of another life comes through: each life has channels and gatherings of its own.
type lifeNode struct {
	node.Node // of the process, for all lives
	life      uint64
	seats     []int    // by node
	number    []int    // by seat: the node, or -1
	left      []bool   // by seat: the node left before this life. It may not have closed its part of the network yet
	among     []uint64 // by seat: the incarnation of the node; nil: the run has one life

	mu     sync.Mutex
	drops  []func()          // unregister the receivers of parcels and of news about other nodes
	rounds map[string]uint64 // of gatherings, by name
}

// newLifeNode is the view of a life whose nodes have some seats.
func newLifeNode(base node.Node, life uint64, seats []int, among []uint64) *lifeNode {
	l := &lifeNode{Node: base, life: life, seats: seats, among: among, left: make([]bool, base.Nodes()), rounds: make(map[string]uint64)}
	for range base.Nodes() {
		l.number = append(l.number, -1)
	}
	for i, s := range seats {
		l.number[s] = i
	}
	return l
}

// end drops the receivers of the life: nothing arrives in it any more.
func (l *lifeNode) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, drop := range l.drops {
		drop()
	}
}

// until holds v until the life ends, and nil from then on. The network itself never drops a receiver.
func until[T any](l *lifeNode, v T) *atomic.Pointer[T] {
	at := new(atomic.Pointer[T])
	at.Store(&v)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drops = append(l.drops, func() { at.Store(nil) })
	return at
}

// channel is the channel of the life in the network.
func (l *lifeNode) channel(channel uint64) uint64 { return (l.life-1)<<32 | channel }

// Number implements node.Node.
func (l *lifeNode) Number() int { return l.number[l.Node.Number()] }

// Nodes implements node.Node.
func (l *lifeNode) Nodes() int { return len(l.seats) }

// seat is the seat of a node, or -1 if there is no such node.
func (l *lifeNode) seat(number int) int {
	if number < 0 || number >= len(l.seats) {
		return -1
	}
	return l.seats[number]
}

// Send implements node.Node.
func (l *lifeNode) Send(to int, channel uint64, header, bulk []byte, keep bool) error {
	return l.Node.Send(l.seat(to), l.channel(channel), header, bulk, keep)
}

// Post implements node.Node.
func (l *lifeNode) Post(to int, channel uint64, header, bulk []byte, keep bool) error {
	return l.Node.Post(l.seat(to), l.channel(channel), header, bulk, keep)
}

// Pace implements node.Node.
func (l *lifeNode) Pace(ctx context.Context, to int) error { return l.Node.Pace(ctx, l.seat(to)) }

// Receive implements node.Node.
func (l *lifeNode) Receive(channel uint64, r node.Receiver) error {
	at := until(l, r)
	of := func(seat int) (*node.Receiver, int) {
		if n := l.number[seat]; n >= 0 {
			return at.Load(), n
		}
		return nil, 0 // the node is not in the life
	}
	wrapped := node.Receiver{Take: func(seat int, header, bulk []byte) error {
		if r, from := of(seat); r != nil {
			return r.Take(from, header, bulk)
		}
		return nil
	}}
	if r.TakeLent != nil {
		wrapped.TakeLent = func(seat int, header, bulk []byte, valid func() bool) error {
			if r, from := of(seat); r != nil {
				return r.TakeLent(from, header, bulk, valid)
			}
			return nil
		}
	}
	if r.Swap != nil {
		wrapped.Swap = func(seat int, header, bulk []byte) ([]byte, error) {
			if r, from := of(seat); r != nil {
				return r.Swap(from, header, bulk)
			}
			return bulk, nil
		}
	}
	return l.Node.Receive(l.channel(channel), wrapped)
}

// name is the name of a gathering in the network.
func (l *lifeNode) name(name string) string { return fmt.Sprintf("life %d: %s", l.life, name) }

// of takes what the nodes of the life have given.
func (l *lifeNode) of(list [][]byte) [][]byte {
	if list == nil {
		return nil
	}
	all := make([][]byte, len(l.seats))
	for i, s := range l.seats {
		all[i] = list[s]
	}
	return all
}

// Gather implements node.Node. Nodes that are in the network, and not in the life, give nothing.
func (l *lifeNode) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	if l.among == nil {
		list, err := l.Node.Gather(ctx, l.name(name), blob)
		return l.of(list), err
	}
	l.mu.Lock()
	l.rounds[name]++
	round := l.rounds[name]
	l.mu.Unlock()
	list, err := l.Node.GatherAmong(ctx, l.name(name), round, l.among, blob)
	return l.of(list), err
}

// forget has the network forget what was gathered in the life. All of its nodes have ended it.
func (l *lifeNode) forget() {
	prefix := l.name("")
	l.Node.ForgetGathered(func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// OnLoss implements node.Node.
func (l *lifeNode) OnLoss(f func(peer int, why error)) {
	at := until(l, f)
	l.Node.OnLoss(func(seat int, why error) {
		if f := at.Load(); f != nil && l.number[seat] >= 0 {
			(*f)(l.number[seat], why)
		}
	})
}

// OnSuspect implements node.Node.
func (l *lifeNode) OnSuspect(f func(peer int)) {
	at := until(l, f)
	l.Node.OnSuspect(func(seat int) {
		if f := at.Load(); f != nil && l.number[seat] >= 0 {
			(*f)(l.number[seat])
		}
	})
}

// OnApart implements node.Node.
func (l *lifeNode) OnApart(f func(why error)) {
	at := until(l, f)
	l.Node.OnApart(func(why error) {
		if f := at.Load(); f != nil {
			(*f)(why)
		}
	})
}

// OnLate implements node.Node. The nodes of a life are there when it begins.
func (l *lifeNode) OnLate(func(peer int, since uint64)) {}

// others reports whether the network has a node that waits for the next life.
func (l *lifeNode) others() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for seat, n := range l.number {
		if n < 0 && !l.left[seat] && l.Node.Lost(seat) == nil {
			return true
		}
	}
	return false
}

// leave says that a seat has left before this life. Another process may take it.
func (l *lifeNode) leave(seat int) {
	l.mu.Lock()
	l.left[seat] = true
	l.mu.Unlock()
	comes := until(l, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.left[seat] = false
	})
	l.Node.OnLate(func(peer int, _ uint64) {
		if f := comes.Load(); f != nil && peer == seat {
			(*f)()
		}
	})
}

// Lost implements node.Node.
func (l *lifeNode) Lost(number int) error {
	return l.Node.Lost(l.seat(number))
}

// Suspected implements node.Node.
func (l *lifeNode) Suspected(number int) bool { return l.Node.Suspected(l.seat(number)) }

// lifeLog is a record of the lives of a run, for the page and for metrics. The survival has one, so it outlasts
// the runtimes. Nothing depends on it.
//
//	follow: begins ──▶ cuts: whole, whole, ... ──▶ ended: ends ──▶ follow: begins ...
type lifeLog struct {
	mu     sync.Mutex
	now    pastLife // the present life; its number is 0 before the first one
	past   []pastLife
	cuts   uint64    // whole cuts of all lives
	last   place     // of the last whole cut
	at     time.Time // when it was whole
	copied uint64    // bytes that tasks of this node have copied for cuts
	failed uint64    // records and parts that could not be sent or saved
}

// pastLife is a life.
type pastLife struct {
	number       uint64
	from         place
	seats        []int
	weights      []int // of the nodes, which have these seats
	began, ended time.Time
	why          string // why it ended, if this node knows it
	mortal       string // why no life can follow it
}

// place is where a cut is: after a round of a run. The end of a run is the place before the first round of the next one.
type place struct{ run, round uint64 }

func placeOf(cut lives.Key) place {
	if cut.Round == lives.End {
		return place{cut.Run + 1, 0}
	}
	return place{max(cut.Run, 1), cut.Round}
}

// mostPast is how many lives before this one are remembered.
const mostPast = 16

// begins notes that a life begins from a cut, on some processes with some weights.
func (h *lifeLog) begins(number uint64, cut lives.Key, seats, weights []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.number > 0 {
		h.past = append(h.past, h.now)
		h.past = slices.Delete(h.past, 0, max(0, len(h.past)-mostPast))
	}
	h.now = pastLife{number: number, from: placeOf(cut), seats: slices.Clone(seats), weights: weights, began: time.Now()}
	h.last, h.at = h.now.from, h.now.began
}

// seats are the processes of the present life.
func (h *lifeLog) seats() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now.seats
}

// ends notes why the life has ended, if that is known.
func (h *lifeLog) ends(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now.ended = time.Now()
	if why != nil {
		h.now.why = why.Error()
	}
}

// isLast notes why no life can follow this one.
func (h *lifeLog) isLast(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now.mortal = why.Error()
}

// whole notes that a cut is whole.
func (h *lifeLog) whole(cut lives.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cuts++
	h.last, h.at = placeOf(cut), time.Now()
}

// copies notes that a task has copied so many bytes for a cut.
func (h *lifeLog) copies(bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.copied += uint64(bytes)
}

// fails notes that a part of a cut could not be sent or saved.
func (h *lifeLog) fails() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed++
}

// state is the log as others see it. It is nil before the first life.
func (h *lifeLog) state() *inspect.Life {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.number == 0 {
		return nil
	}
	l := &inspect.Life{
		PastLife: h.now.state(), Mortal: h.now.mortal, Cuts: h.cuts, Copied: h.copied, Failed: h.failed,
		Run: h.last.run, Round: h.last.round, Age: inspect.Seconds{Duration: time.Since(h.at)},
	}
	for i := range h.past {
		l.Past = append(l.Past, h.past[i].state())
	}
	return l
}

func (p *pastLife) state() inspect.PastLife {
	s := inspect.PastLife{Number: p.number, FromRun: p.from.run, From: p.from.round, Seats: p.seats, Weights: p.weights, Began: p.began, Why: p.why}
	if ended := p.ended; !ended.IsZero() {
		s.Ended = &ended
	}
	return s
}
