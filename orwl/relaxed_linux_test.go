package orwl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// insider is the node that is killed inside a relaxed access. Node 1 is the home.
const insider = 2

// relaxed is a program of tasks on three nodes: one is inside a relaxed access for ever, and
// the others go round or read until they get an error.
func (a *actor) relaxed(rt *Runtime) {
	r := a.r[1]
	rt.Relaxed(r)
	body := []func(*Task) error{
		func(t *Task) error {
			for { // not t.Context, which ends if the home fails first
				if err := core(r).ReadRelaxed(context.Background(), func([]byte) error { return nil }); err != nil {
					return err
				}
			}
		},
		func(t *Task) error {
			return byPair(t.Context(), r, -1, func([]byte) error { return nil })
		},
		func(t *Task) error {
			if _, err := r.Relaxed(t.Context(), queue.Write); err != nil {
				return err
			}
			a.tell(note{What: "inside"})
			<-t.Context().Done()
			return context.Cause(t.Context())
		},
	}
	for i := range a.Nodes {
		t := rt.Task(name(i)).On(i)
		t.Do(func(t *Task) error {
			a.tell(note{What: "round"})
			err := body[i](t)
			if i != insider {
				typed := errors.Is(err, queue.ErrBroken) && errors.Is(err, locks.ErrBroken) && errors.Is(err, rma.ErrPeerLost)
				a.tell(note{What: "done", Actor: typed, Text: fmt.Sprint(err)})
			}
			return err
		})
	}
}

// The loss of a node inside a relaxed access ends all accesses to the resource, at the home
// and elsewhere, by an error that names what was lost. No process hangs.
func TestLostInsideRelaxed(t *testing.T) {
	t.Parallel()
	for seed, world := range []string{"shared memory", "frames"} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			c := muster(t, unhurried, "relaxed", 3, uint64(seed))
			c.await("the insider", func(n said) bool { return n.by == insider && n.What == "inside" })
			c.signal(insider, syscall.SIGKILL)
			for node := range insider {
				n := c.ended(node)
				if node == 1 { // the run may end first
					if !strings.Contains(n.Text, "is lost") {
						t.Errorf("the home ends by %q", n.Text)
					}
					continue
				}
				n = c.await("its error", func(n said) bool { return n.by == node && n.What == "done" })
				if !n.Actor || !strings.Contains(n.Text, "is lost") {
					t.Errorf("node %d: %q, want a resource that is broken by the loss of a rank", node, n.Text)
				}
			}
		})
	}
}
