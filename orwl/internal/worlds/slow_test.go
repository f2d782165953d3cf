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

// plate is a grid on two nodes. From one sweep on, and up to another one, the second node is half as fast. The first blocks sleep besides.
type plate struct {
	rows, cols, sweeps int
	slow, fast         int
	sleepers           int

	mu    sync.Mutex
	began []time.Time // by sweep: the first block has begun it, for the first time
}

func (p *plate) lasts() time.Duration { return time.Minute }

func (p *plate) String() string {
	return fmt.Sprintf("%d×%d blocks, %d sweeps", p.rows, p.cols, p.sweeps)
}

// slowBody is so long that an imbalance costs a second after some sweeps.
const slowBody = 10 * bodyTime

// plateWorkers is how many processors each node has.
const plateWorkers = 2

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
		at.computes(p.body(at.seat, b.Sweep()))
		if b.Number() < p.sleepers {
			<-time.After(5 * slowBody)
		}
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
	p := &plate{rows: 6, cols: 4, sweeps: 420, slow: 100, fast: 260}
	p.plays(t, func(t *testing.T, w *world) {
		for _, c := range []struct{ from, to int }{{20, 99}, {150, 259}, {350, 419}} {
			got := p.efficiency(c.from, c.to, plateWorkers)
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
}

// TestSleepingBlocks has blocks of one node sleep in each sweep. They would sleep on another node, too: no life ends for that. A node that is slow
// besides is found.
func TestSleepingBlocks(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct{ slow, lives int }{{200, 1}, {50, 2}} {
		p := &plate{rows: 6, cols: 4, sweeps: 200, slow: c.slow, fast: 200, sleepers: 4}
		p.plays(t, func(t *testing.T, w *world) {
			for _, p := range w.processes {
				if p.lives != c.lives {
					w.complain("slow from sweep %d on: node %d has had %d lives, want %d", c.slow, p.seat, p.lives, c.lives)
				}
			}
		})
	}
}

// plays plays the plate in a world of two nodes, each with some workers.
func (p *plate) plays(t *testing.T, judge func(t *testing.T, w *world)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(plateWorkers))
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(1, "")
		w.runs, w.disks, w.commands = p, nil, 0
		w.plays(newCommand(2, true))
		judge(t, w)
	})
	w.report(t)
}
