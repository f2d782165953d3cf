package orwl

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// A run is a sequence of lives. [Run] calls the program once in each. A life ends when a node is lost, and the next one
// begins from the last cut, on the nodes that are left:
//
//	program ──▶ ended ──▶ all gather how it ended, and what they keep ──▶ next: the same nodes, as fewer ──▶ program
//
// The program declares the same in each life. Run gives the resources the contents that they have in the cut, and each task begins with the round
// behind it.

// Survive says how a run goes on when a node is lost. By default it does if it can: see [Run].
type Survive struct {
	// Off ends the run then.
	Off bool
	// Interval is the shortest time between two cuts: 250 ms by default, or as much as keeps their cost below 3 % of
	// the time.
	Interval time.Duration
}

// survival is what a process keeps through the lives of its run.
type survival struct {
	keeper *lives.Keeper
	life   uint64
	plan   lives.Plan // of this life: the cut that it begins from
	barren int        // how many lives in a row have made no cut
	mortal error      // why no life follows this one
	seed   maphash.Seed
	items  map[int][]uint64 // by run of the runtime: of the program that the first life has declared
}

// mostBarren is how many lives in a row make no cut until the run ends: a program that always fails does not go on for ever.
const mostBarren = 3

// errMortal is what keeps a run from going on after the loss of a node.
var errMortal = errors.New("orwl: the loss of a node ends this run")

func newSurvival() *survival {
	return &survival{keeper: lives.NewKeeper(), life: 1, seed: maphash.MakeSeed(), items: make(map[int][]uint64)}
}

// survive prepares the cuts of a run, if its process has lives and the program can go on without a node. It returns the letters that
// go out when all nodes are ready.
func (rt *Runtime) survive(r *run) (first []lives.Letter, err error) {
	n := rt.o.Nodes
	if n == nil || n.survival == nil {
		return nil, nil
	}
	s := n.survival
	if s.mortal = rt.mortal(); s.mortal != nil {
		rt.o.Log.Debug("orwl: no other life follows this one", "why", s.mortal)
		return nil, nil
	}
	if err := s.same(rt); err != nil {
		return nil, err
	}
	n.outlive()
	if rt.runs > 1 {
		return nil, nil // only the first run of a life makes cuts: the next life does the others again
	}
	r.cuts = newCuts(rt, s, systemOf(rt.tasks).Order())
	n.cuts.Store(r.cuts)
	return s.keeper.Begin(r.cuts.life), nil
}

// mortal is why the program cannot go on without a node, or nil.
func (rt *Runtime) mortal() error {
	for _, t := range rt.tasks {
		if t.step == nil {
			return fmt.Errorf("%w: the body of task %q is one of Do, whose state no cut has: use Each", errMortal, t.name)
		}
	}
	for name := range rt.relaxed {
		return fmt.Errorf("%w: resource %q has relaxed access", errMortal, name)
	}
	return nil
}

// same compares the program of a run with the program that the first life declared.
func (s *survival) same(rt *Runtime) error {
	before, known := s.items[rt.runs]
	var items []uint64
	for item := range rt.declarations {
		h := maphash.Comparable(s.seed, item)
		if i := len(items); known && (i >= len(before) || before[i] != h) {
			return fmt.Errorf("orwl: life %d of the run has declared another program than the first one: the difference begins with %v: "+
				"declare the same, whatever the nodes are", s.life, item)
		}
		items = append(items, h)
	}
	if known && len(items) < len(before) {
		return fmt.Errorf("orwl: life %d of the run has declared less than the first one: declare the same, whatever the nodes are", s.life)
	}
	s.items[rt.runs] = items
	return nil
}

// ended is what this node tells the others when a life has ended with err.
func (n *Nodes) ended(ctx context.Context, err error) message.Life {
	s := n.survival
	s.keeper.End()
	if s.keeper.Whole().Round > s.plan.From.Round {
		s.barren = -1
	}
	s.barren++
	l := message.Life{Node: n.Number(), Barren: s.barren, Kept: s.keeper.Report()}
	lost := (*NodeError)(nil)
	isLost := errors.As(n.fate.Why(), &lost) && lost.Lost || errors.As(err, &lost) && lost.Lost
	switch {
	case err == nil:
		return l
	case ctx.Err() != nil || !isLost:
		l.Outcome, l.Text = message.Failed, err.Error()
		if errors.As(err, &lost) {
			l.Node, l.Text = lost.Node, lost.Text
		}
	case s.mortal != nil:
		l.Outcome, l.Text = message.Mortal, s.mortal.Error()
	default:
		l.Outcome = message.Lost
	}
	return l
}

// next begins the next life after one that has ended with err. It returns nil if that was the last one, and the error of the run.
func (n *Nodes) next(ctx context.Context, err error) (*Nodes, error) {
	s := n.survival
	if s == nil {
		return nil, err
	}
	texts, gathered := n.network.Gather(ctx, "life", n.ended(ctx, err).Encode())
	if gathered != nil {
		return nil, errors.Join(err, gathered)
	}
	var seats []int
	var reports []lives.Report
	barren, lost := mostBarren, false
	for seat, text := range texts {
		if text == nil {
			continue
		}
		l, bad := message.ParseLife(text)
		if bad != nil {
			return nil, errors.Join(err, bad)
		}
		switch l.Outcome {
		case message.Failed, message.Mortal:
			if err == nil {
				err = &NodeError{Node: l.Node, Text: l.Text, Lost: l.Outcome == message.Mortal}
			} else if l.Outcome == message.Mortal {
				err = errors.Join(err, s.mortal)
			}
			return nil, err
		case message.Lost:
			lost = true
		}
		seats, reports, barren = append(seats, seat), append(reports, l.Kept), min(barren, l.Barren)
	}
	switch {
	case !lost:
		return nil, err
	case barren >= mostBarren:
		return nil, errors.Join(err, fmt.Errorf("orwl: %d lives in a row have ended before they made a cut", mostBarren))
	}
	s.life++
	s.plan, s.mortal = lives.Choose(reports), nil
	return n.follow(ctx, seats)
}

// follow begins the next life on some seats of the network.
func (n *Nodes) follow(ctx context.Context, seats []int) (*Nodes, error) {
	s := n.survival
	n.endLife()
	next := &Nodes{place: n.place, network: n.network, log: n.log, survival: s}
	next.log.Info("orwl: the run goes on", "life", s.life, "nodes", seats, "round", s.plan.From.Round)
	if len(seats) == 1 {
		next.place.Node, next.place.Nodes = 0, 1
		return next, nil
	}
	return next, next.enter(ctx, s.life, seats)
}

// endLife lets go of what a life has of the network.
func (n *Nodes) endLife() {
	if n.node == nil {
		return
	}
	n.node.end()
	for peer := range n.Count() {
		if peer != n.Number() {
			n.site.Away(queue.Node(peer), errLeft)
		}
	}
	n.endings.Say(n.log)
}
