package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl"
)

// past is what a process knows of the lives of the run. A node that has come late learns it from the others.
type past struct {
	Seat  int           // the launcher's number of this node, which stays; in each life the nodes are numbered anew
	Life  int           // the last life that this node was in; 0: none
	Seats []int         // of the nodes of that life
	Lost  bool          // it has ended because of a loss
	Took  time.Duration // from the beginning of the first life to the beginning of this one
	News  []string      // such as "node 1 was lost"
	began time.Time
}

// meet begins a life, when all nodes are ready for it.
func (p *past) meet(ctx context.Context, rt *orwl.Runtime) error {
	if p.began.IsZero() {
		p.began = time.Now()
	} else {
		p.Took = time.Since(p.began)
	}
	all, err := rt.Gather(ctx, "past", pack.Encode(p))
	if err != nil {
		return err
	}
	var seats []int
	known := *p
	for node, text := range all {
		var other past
		if err := pack.Decode(text, &other); err != nil {
			return fmt.Errorf("what node %d knows of the run: %w", node, err)
		}
		seats = append(seats, other.Seat)
		if other.Life > known.Life {
			known = other
		}
	}
	p.News, p.Took = known.News, known.Took
	went := "has left"
	if known.Lost {
		went = "was lost"
	}
	if known.Life > 0 {
		p.tell(known.Seats, seats, went)
		p.tell(seats, known.Seats, "has come")
	}
	p.Life, p.Seats, p.Lost = rt.Life(), seats, true
	return nil
}

// tell tells what has become of those that others do not have.
func (p *past) tell(all, others []int, what string) {
	for _, seat := range all {
		if !slices.Contains(others, seat) {
			p.News = append(p.News, fmt.Sprintf("node %d %s", seat, what))
		}
	}
}

// ended notes how the tasks of a life have ended. If they have not failed because of a loss, the life was to end. If they have not failed
// at all, only a loss ends the life before the run.
func (p *past) ended(err error) {
	var lost *orwl.NodeError
	p.Lost = err == nil || errors.As(err, &lost) && lost.Lost
}

// of names what is done in this life.
func (p *past) of(what string) string {
	if p.Life > 1 {
		return fmt.Sprintf("%s, life %d", what, p.Life)
	}
	return what
}
