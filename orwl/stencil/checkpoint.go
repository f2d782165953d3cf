package stencil

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/orwl"
)

// Checkpoint says where and how often a grid is saved while it runs, so that another run can
// continue: see Options.Resume. The zero value saves nothing.
//
// A checkpoint is the grid after a sweep, the same one in all blocks. No block waits for it: each
// writes its cells when it is there. A task of each node then syncs the node's file and gives
// it its name. The last two checkpoints are kept.
//
// A checkpoint that cannot be written, for example because the disk is full, does not end the
// run. It is given up, and the older ones stay. The first such error is logged at once, and
// their number at the end. [Grid.Checkpoints] has both.
type Checkpoint struct {
	// Dir is the directory. It is made if it is not there. All nodes of a run need the same
	// one, for example on a network file system, and grids with different names may share it.
	// It must hold no checkpoint of a grid of this name, unless Options.Resume is this
	// directory.
	Dir string
	// Every is after how many sweeps a checkpoint is due, rounded up to whole exchanges: see
	// Options.Sweeps. One more is due after the last sweep. If the disk cannot follow, a node
	// takes every second one only, then every fourth, and so on.
	Every int
}

// Checkpoints is what became of the checkpoints of a run on this node.
type Checkpoints struct {
	Resumed int   // the sweeps of the checkpoint that the run has continued
	Saved   int   // checkpoints whose part of this node is on the disk
	Newest  int   // the sweeps of the newest of them
	Late    int   // left out, because the disk had not finished the ones before
	Failed  int   // given up because of an error
	Err     error // the first such error
}

// String is the same in words.
func (c Checkpoints) String() string {
	text := fmt.Sprintf("%d checkpoints", c.Saved)
	if c.Saved > 0 {
		text += fmt.Sprintf(", the newest after %d sweeps", c.Newest)
	}
	for _, part := range []struct {
		n    int
		what string
	}{{c.Late, "left out"}, {c.Failed, "given up"}, {c.Resumed, "sweeps continued"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	if c.Err != nil {
		text += ": " + c.Err.Error()
	}
	return text
}

// Checkpoints is what became of the checkpoints on this node, now or after the run.
func (g *Grid) Checkpoints() Checkpoints {
	if g.keeper == nil {
		return Checkpoints{Resumed: g.start}
	}
	g.keeper.mu.Lock()
	defer g.keeper.mu.Unlock()
	return g.keeper.counts
}

func (c Checkpoint) validate() error {
	switch {
	case c.Dir == "" && c.Every != 0:
		return wrong("Checkpoint.Dir", `""`, "want a directory if Every is set")
	case c.Dir != "" && c.Every < 1:
		return wrong("Checkpoint.Every", c.Every, "want 1 or more")
	}
	return nil
}

// keeper saves the tiles of this node. The tasks of the tiles write the files. A task of the
// keeper completes them:
//
//	tiles    create x.part ── write parts, each at its place ──▶ all written
//	keeper   ──▶ write the contents ─▶ fsync ─▶ rename to x ─▶ fsync the directory ─▶ remove old ones
//
// So a file that has its name is whole, whenever the node is killed. A checkpoint is whole when
// the files of all nodes have their names.
type keeper struct {
	grid   *Grid
	writer int // its number among the nodes that have tiles
	of     int // how many nodes have tiles
	tiles  []*tile
	disk   disk
	log    *slog.Logger
	full   chan *saving // all parts are written, or one has failed

	mu      sync.Mutex
	savings map[int]*saving // by the number of sweeps: the savings that some tile has not come to
	stride  int             // it takes the checkpoints whose number is a multiple
	backlog int             // the checkpoints that are begun and not completed
	ended   bool
	counts  Checkpoints
}

// mostBacklog is how many checkpoints a node begins before it has completed the first one.
const mostBacklog = 2

// saving is a file that is being written.
type saving struct {
	contents contents
	name     entry
	last     bool     // of the run
	left     int      // tiles that have not come to it
	file     diskFile // nil: it is left out, or was not created
	late     bool     // it is left out
	err      error    // the first
}

// newKeeper is nil if nothing is to save on this node.
func (g *Grid) newKeeper() *keeper {
	if g.o.Checkpoint.Dir == "" || g.passes() == 0 {
		return nil
	}
	k := &keeper{grid: g, disk: g.disk, log: g.rt.Log(), full: make(chan *saving, mostBacklog+1), savings: make(map[int]*saving), stride: 1}
	k.counts.Resumed = g.start
	nodes := g.tileNodes()
	k.writer, k.of = slices.Index(nodes, g.rt.Node()), len(nodes)
	for _, t := range g.tiles {
		if t.node == g.rt.Node() {
			t.slot = len(k.tiles)
			k.tiles = append(k.tiles, t)
		}
	}
	if len(k.tiles) == 0 {
		return nil
	}
	return k
}

// declareKeepers declares a task for the keeper of each node.
func (g *Grid) declareKeepers() {
	if g.keeper = g.newKeeper(); g.o.Checkpoint.Dir == "" || g.passes() == 0 {
		return
	}
	for _, node := range g.tileNodes() {
		g.rt.Task(fmt.Sprintf("%s checkpoints of node %d", g.o.Name, node)).On(node).Do(func(t *orwl.Task) error {
			g.keeper.run(t.Context())
			return nil
		})
	}
}

// tileNodes are the nodes that have tiles, in their order.
func (g *Grid) tileNodes() (nodes []int) {
	for _, t := range g.tiles {
		nodes = append(nodes, t.node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// interval is how many passes there are from one checkpoint to the next.
func (g *Grid) interval() int { return divideUp(g.o.Checkpoint.Every, g.tiling.sweeps) }

// checkpoint saves the tile after pass n, if that is due.
func (p *piece) checkpoint(n, swept int, last bool) {
	g := p.grid
	if g.keeper == nil {
		return
	}
	due := (n + 1) / g.interval()
	if !last && due*g.interval() != n+1 {
		return
	}
	k := g.keeper
	s := k.begin(due, swept, last)
	if s == nil {
		return
	}
	part := &s.contents.Parts[p.slot]
	var sum uint64
	var err error
	if s.file != nil {
		sum, err = p.save(s.file, part, swept)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	part.Sum, part.Values = sum, p.savedValues(swept)
	if s.err == nil {
		s.err = err
	}
	if s.left--; s.left > 0 {
		return
	}
	delete(k.savings, swept)
	if !s.late && !k.ended {
		k.full <- s // has room, see begin
	}
}

// begin returns the saving of a checkpoint: that is the number of one in the order of the run.
//
// A tile may not wait: the tasks that it waits for may need its worker. So a checkpoint is
// left out if too many are begun. All nodes must leave out the same ones, or none would be
// whole. Each node doubles its stride, so that what a slower node takes, a faster one does, too.
func (k *keeper) begin(number, swept int, last bool) *saving {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return nil
	}
	if s := k.savings[swept]; s != nil {
		return s
	}
	s := &saving{last: last, left: len(k.tiles)}
	k.savings[swept] = s
	s.name = entry{grid: k.grid.o.Name, sweeps: swept, writer: k.writer, of: k.of}
	s.contents = k.grid.newContents(s.name, k.tiles)
	s.late = !last && number%k.stride != 0
	if !s.late && !last && k.backlog >= mostBacklog {
		s.late = true
		k.stride *= 2
		k.log.Warn("stencil: the disk cannot follow: fewer checkpoints", "grid", s.name.grid, "every", k.stride*k.grid.interval()*k.grid.tiling.sweeps)
	}
	if s.late {
		k.counts.Late++
		return s
	}
	k.backlog++
	s.file, s.err = k.disk.create(s.name.part())
	return s
}

// run completes checkpoints, until the last one is complete or the run ends.
func (k *keeper) run(ctx context.Context) {
	defer k.end()
	k.check("remove checkpoints that are newer than the one that the run continues", k.removeNewer())
	for {
		select {
		case s := <-k.full:
			if k.complete(s); s.last {
				return
			}
			continue
		case <-ctx.Done():
		}
		select {
		case s := <-k.full: // all its parts are written
			k.complete(s)
		default:
			return
		}
	}
}

// end gives up what is not written.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	for _, s := range k.savings {
		if s.file != nil {
			_ = s.discard(k)
		}
	}
	for len(k.full) > 0 { // written since run looked
		if s := <-k.full; s.file != nil {
			_ = s.discard(k)
		}
	}
	if n := k.counts.Failed; n > 0 {
		k.log.Warn("stencil: checkpoints were given up", "grid", k.grid.o.Name, "checkpoints", n, "first", k.counts.Err)
	}
}

// complete makes a file permanent, or gives it up.
func (k *keeper) complete(s *saving) {
	err := s.err
	if err == nil {
		err = s.keep(k)
	}
	if err != nil && s.file != nil {
		_ = s.discard(k) // the first error counts
	}
	k.mu.Lock()
	k.backlog--
	if err == nil {
		k.counts.Saved++
		k.counts.Newest = s.name.sweeps
	}
	k.mu.Unlock()
	k.failed(s.name, err)
	if err == nil {
		k.check("remove old checkpoints", k.removeOld())
	}
}

// keep completes the file. The order of its steps is what makes a file that has its name whole.
func (s *saving) keep(k *keeper) error {
	end := s.contents.bytes()
	if _, err := s.file.WriteAt(s.contents.encode(), end); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	if err := k.disk.rename(s.name.part(), s.name.String()); err != nil {
		return err
	}
	return k.disk.sync()
}

// discard removes the file.
func (s *saving) discard(k *keeper) error {
	_ = s.file.Close() // it may be closed already
	return k.disk.remove(s.name.part())
}

// failed counts an error. It logs the first one.
func (k *keeper) failed(e entry, err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.counts.Failed++; k.counts.Failed == 1 {
		k.counts.Err = fmt.Errorf("checkpoint after %d sweeps: %w", e.sweeps, err)
		k.log.Warn("stencil: a checkpoint is given up, the run goes on", "grid", e.grid, "error", k.counts.Err)
	}
}

// check logs that old files are left.
func (k *keeper) check(what string, err error) {
	if err != nil {
		k.log.Warn("stencil: cannot "+what, "grid", k.grid.o.Name, "error", err)
	}
}
