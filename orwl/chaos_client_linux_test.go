package orwl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
)

// clients are tasks with goroutines that access resources by handles, by command and at
// random.
func (a *actor) clients(rt *Runtime) {
	go a.listen()
	for i := range a.Nodes {
		rt.Task(name(i)).On(i).Do(func(t *Task) error {
			a.tell(note{What: "round"})
			var all sync.WaitGroup
			for c := range 2 * a.Nodes {
				all.Go(func() { a.wander(t.Context(), c/2, rand.New(rand.NewPCG(a.Seed, uint64(a.Node<<8+c)))) })
			}
			for stopped := false; !stopped; {
				select {
				case command := <-a.commands:
					all.Go(func() { a.obey(t.Context(), command) })
				case <-a.stopping:
					stopped = true
				case <-t.Context().Done():
					stopped = true
				}
			}
			all.Wait()
			return nil
		})
	}
}

// listen takes commands: "hold RESOURCE MODE", "go" for one that holds, "stop".
func (a *actor) listen() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch line := in.Text(); {
		case line == "stop":
			close(a.stopping)
		case line == "go":
			a.letGo <- struct{}{}
		default:
			a.commands <- line
		}
	}
	os.Exit(1) // the test is gone
}

func (a *actor) obey(ctx context.Context, command string) {
	var at int
	var m queue.Mode
	if _, err := fmt.Sscanf(strings.TrimPrefix(command, "hold "), "%d %d", &at, &m); err != nil {
		panic(err)
	}
	a.access(ctx, at, m, true, func(ctx context.Context) {
		select {
		case <-a.letGo:
		case <-ctx.Done():
		}
	})
}

// wander accesses resources at random times, until it is told to stop.
func (a *actor) wander(ctx context.Context, at int, chance *rand.Rand) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-a.stopping:
			return
		case <-ctx.Done():
			return
		}
		a.access(ctx, at, queue.Mode(chance.IntN(2)), false, func(context.Context) {})
		pause.Reset(time.Duration(1+chance.IntN(20)) * time.Millisecond)
	}
}

// access is one access, with notes of its call, of what it sees, and of how it ends.
func (a *actor) access(ctx context.Context, at int, m queue.Mode, actor bool, during func(context.Context)) {
	n := note{What: "call", Op: a.ops.Add(1), Actor: actor, At0: at, Mode: uint8(m)}
	if m == queue.Write {
		n.Token = uint64(a.Node+1)<<32 | n.Op
	}
	a.tell(n)
	err := a.section(ctx, &n, during)
	n.What, n.Verdict = "done", judge(err)
	if err != nil {
		n.Text = err.Error()
	}
	a.tell(n)
}

func (a *actor) section(ctx context.Context, n *note, during func(context.Context)) error {
	var h queue.Place
	if err := h.Request(core(a.r[n.At0]), queue.Mode(n.Mode)); err != nil {
		return err
	}
	if err := h.Acquire(ctx); err != nil {
		return errors.Join(err, h.Cancel())
	}
	err := a.inside(ctx, &h, n, during)
	return errors.Join(err, h.Release())
}

func (a *actor) inside(ctx context.Context, h *queue.Place, n *note, during func(context.Context)) error {
	v, err := typed.Read[uint64](h, new(typed.Memo))
	if err != nil {
		return err
	}
	seen := &sighted{Value: v.Elements()[0], Version: h.Version(), Fence: h.Fence(), Prior: errors.Is(h.Prior(), queue.ErrPriorHolderLost)}
	for i := range v.Elements() {
		if v.Elements()[i] != seen.Value {
			return fmt.Errorf("torn: element %d of %d is %d, the first %d", i, len(v.Elements()), v.Elements()[i], seen.Value)
		}
	}
	if _, err := typed.Read[uint64](h, new(typed.Memo)); err != nil {
		return err // it was lost meanwhile
	}
	n.Seen, n.What = seen, "held"
	a.tell(*n)
	during(ctx)
	if n.Token == 0 {
		return nil
	}
	w, err := typed.Write[uint64](h, new(typed.Memo))
	for i := range w {
		w[i] = n.Token
	}
	return err
}
