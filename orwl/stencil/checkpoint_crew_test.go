package stencil

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/orwl/go-orwl/orwl"
)

// crewVariable gives its directory to a test binary that TestKillOneNode has started on several nodes,
// and crewLeg is which start that is.
const (
	crewVariable = "ORWL_TEST_CREW"
	crewLeg      = "ORWL_TEST_CREW_LEG"
)

const (
	crewSweeps = 600
	crewEvery  = 32
)

// crew continues the grid in a directory, as one node. It prints what it has saved. No
// sweep begins before the checkpoint two before it is saved. So none is left out, however slow the
// disk is.
func crew(dir string) error {
	leg, err := strconv.Atoi(os.Getenv(crewLeg))
	if err != nil {
		return err
	}
	return orwl.Run(context.Background(), orwl.Options{Log: silent, Join: orwl.JoinOptions{Log: silent}}, func(ctx context.Context, rt *orwl.Runtime) error {
		blocks := []Size{{2, 2}, {3, 1}, {2, 3}, {1, 4}}[leg%4]
		g := New(rt, Options{Size: Size{24, 20}, Blocks: blocks, Sweeps: 1 + leg%3, Checkpoint: Checkpoint{Dir: dir, Every: crewEvery}, Resume: dir})
		saves := newTeller(g)
		g.disk = saves
		u := NewField(g, "u", FieldOptions[uint64]{Halo: Around(1), Initial: func(at []int) uint64 { return mixed(1, at...) }})
		err := g.Sweep(crewSweeps, func(b *Block) {
			for r := range b.Rows() {
				for i := range r.Len() {
					u.New(r)[i] = 3*u.Old(r, -1, 0)[i] + u.Old(r, 1, 0)[i] ^ u.Old(r, 0, 1)[i] + uint64(b.Sweep())
				}
			}
			saves.await(b.Sweep() - 3*crewEvery)
		})
		if err != nil {
			return err
		}
		fmt.Println("start", g.start, "pid", os.Getpid())
		if err := rt.Run(ctx); err != nil {
			return err
		}
		if err := g.Verify(ctx); err != nil {
			return err
		}
		fmt.Println("verified")
		return nil
	})
}

// teller is a disk that tells when a checkpoint is saved: then the keeper looks for old ones.
type teller struct {
	disk
	grid   *Grid
	mu     sync.Mutex
	more   *sync.Cond
	newest int
}

func newTeller(g *Grid) *teller {
	d := &teller{disk: g.disk, grid: g}
	d.more = sync.NewCond(&d.mu)
	return d
}

func (d *teller) list() ([]string, error) {
	if n := d.grid.Checkpoints().Newest; n > 0 {
		d.mu.Lock()
		d.newest = n
		d.mu.Unlock()
		d.more.Broadcast()
		fmt.Println("saved", n)
	}
	return d.disk.list()
}

// await waits until a checkpoint of so many sweeps is saved.
func (d *teller) await(sweeps int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for max(d.newest, d.grid.start) < sweeps {
		d.more.Wait()
	}
}
