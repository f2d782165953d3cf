package worlds

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// plate is a grid on two nodes. From one sweep on, and up to another one, the second node is half as fast.
type plate struct {
	rows, cols, sweeps int
	slow, fast         int

	mu    sync.Mutex
	began []time.Time // by sweep: the first block has begun it, for the first time
}

func (p *plate) lasts() time.Duration { return time.Minute }

func (p *plate) String() string {
	return fmt.Sprintf("%d×%d blocks, %d sweeps", p.rows, p.cols, p.sweeps)
}

// slowBody is so long that an imbalance costs a second after some sweeps.
const slowBody = 10 * bodyTime

// body is how long a node works on a block.
func (p *plate) body(seat, sweep int) time.Duration {
	if seat == 1 && sweep >= p.slow && sweep < p.fast {
		return 2 * slowBody
	}
	return slowBody
}

func (p *plate) run(ctx context.Context, rt *orwl.Runtime, at *process) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{8 * p.rows, 4 * p.cols}, Blocks: stencil.Size{p.rows, p.cols}})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 { return float64(at[0]*7+at[1]*3) / 16 }})
	err := g.Sweep(p.sweeps, func(b *stencil.Block) {
		if b.Number() == 0 {
			p.mu.Lock()
			if len(p.began) == b.Sweep() {
				p.began = append(p.began, time.Now())
			}
			p.mu.Unlock()
		}
		<-time.After(p.body(at.seat, b.Sweep()))
		for r := range b.Rows() {
			to, north := u.New(r), u.Old(r, -1, 0)
			for i, v := range u.Old(r) {
				to[i] = (v + north[i]) / 2
			}
		}
	})
	if err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	if err := g.Verify(ctx); err != nil {
		return fmt.Errorf("%w: %w", errBits, err)
	}
	return nil
}

// efficiency is how fast some sweeps were, divided by what the processors can do.
func (p *plate) efficiency(from, to, workers int) float64 {
	speed := 0.0 // bodies in a second
	for seat := range 2 {
		speed += float64(workers) / p.body(seat, from).Seconds()
	}
	return float64((to-from)*p.rows*p.cols) / speed / p.began[to].Sub(p.began[from]).Seconds()
}

// TestSlowNode has a node slowed to a half, and fast again. The run soon does nine tenths of what the processors can do, with the same bits. Few
// lives end for that.
func TestSlowNode(t *testing.T) {
	rings.Computes(t)
	const workers = 2
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	p := &plate{rows: 6, cols: 4, sweeps: 420, slow: 100, fast: 260}
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(1, "")
		w.runs, w.disks, w.commands = p, nil, 0
		w.plays(newCommand(2, true))
		for _, c := range []struct{ from, to int }{{20, 99}, {150, 259}, {350, 419}} {
			got := p.efficiency(c.from, c.to, workers)
			if t.Logf("sweeps %d to %d: %.3f of what the processors can do", c.from, c.to, got); got < 0.9 {
				w.complain("sweeps %d to %d: %.3f of what the processors can do", c.from, c.to, got)
			}
		}
		for _, p := range w.processes {
			if p.lives < 3 || p.lives > 5 {
				w.complain("node %d has had %d lives", p.seat, p.lives)
			}
		}
	})
	w.report(t)
}
