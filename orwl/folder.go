package orwl

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// With a folder the cuts of a run are on disk, too. When all processes have ended, the same command goes on from there: its first life
// begins from the latest cut that the folders of all nodes have together. See packages folder and lives.
//
//	tasks declared ──▶ open: what is there ──▶ all tell ──▶ Choose ──▶ load ──▶ the life begins as after a loss
//	part complete ──▶ save ──▶ chair

// folderVariable names the folder, unless the program does.
const folderVariable = "ORWL_SURVIVE"

// folder is where the cuts are, nil if they are not on disk.
func (o *Options) folder() folder.Disk {
	dir := o.Survive.Folder
	if dir == "" && !o.Survive.Off {
		dir = os.Getenv(folderVariable)
	}
	if o.disk == nil && dir != "" {
		return folder.Directory(dir)
	}
	return o.disk
}

// openFolder opens the folder of the run. The first life begins from the cuts that are there.
func (rt *Runtime) openFolder(ctx context.Context) error {
	n := rt.o.Nodes
	s, disk := n.survival, rt.o.folder()
	if disk == nil || s.folder != nil {
		return nil
	}
	var err error
	if s.folder, err = folder.Open(disk, n.seat(), rt.command()); err != nil {
		return fmt.Errorf("orwl: the folder of the cuts: %w", err)
	}
	found, err := s.folder.Look()
	if err != nil {
		return fmt.Errorf("orwl: the folder of the cuts: %w", err)
	}
	s.keeper.Finds(found.Parts)
	for _, bad := range found.Unusable {
		rt.o.Log.Warn("orwl: a file of a cut cannot be used", "why", bad)
	}
	if s.life > 1 {
		return nil // the others have begun, and this node has come late
	}
	// Time makes the numbers of lives differ between two starts of the command, also if no folder shows the one before.
	mine := message.Folder{Base: max(found.Life, uint64(time.Now().Unix())), Unusable: len(found.Unusable), Kept: s.keeper.Report()}
	texts, err := n.Gather(ctx, "folder", mine.Encode())
	if err != nil {
		return err
	}
	s.reports = nil
	unusable := 0
	for _, text := range texts {
		var f message.Folder
		if text != nil { // else the node is lost, and this life ends soon
			if f, err = message.ParseFolder(text); err != nil {
				return err
			}
		}
		s.base = max(s.base, f.Base)
		unusable += f.Unusable
		s.reports = append(s.reports, f.Kept)
	}
	switch {
	case lives.Newest(s.reports).Round > 0:
		rt.o.Log.Info("orwl: the run goes on from its folder", append([]any{"folder", disk.Path("")}, cutOf(s.reports)...)...)
	case unusable > 0:
		return fmt.Errorf("orwl: no cut in the folder %s can be used, and the log names the files: choose another folder, or remove them to begin anew", disk.Path(""))
	}
	return nil
}

// command is a number of the program and its arguments. A cut is of use only to the same command.
func (rt *Runtime) command() uint64 {
	p := message.First(rt.declarations, math.MaxInt)
	p.Digest = append(p.Digest, pack.Encode(os.Args[1:])...)
	return binary.LittleEndian.Uint64(message.Digest(p.Digest))
}

// load reads the parts that this node has to send, and has only on disk.
func (s *survival) load(me int, plan lives.Plan) error {
	if s.folder == nil || plan.From.Round == 0 {
		return nil
	}
	for _, h := range s.keeper.Lacks(me, plan) {
		records, err := s.folder.Load(h)
		if err != nil {
			return fmt.Errorf("orwl: the folder of the cuts: %w", err)
		}
		s.keeper.Loaded(h, records)
	}
	if s.life > 1 { // the cut may be in memory only, and the disk keeps the last two whole cuts
		return nil
	}
	return s.folder.Keep(plan.From)
}

// looks notes what is on disk at the end of a life.
func (s *survival) looks() error {
	if s.folder == nil {
		return nil
	}
	found, err := s.folder.Look()
	s.keeper.Finds(found.Parts)
	return err
}

// close closes the folder. A run that has ended well leaves no cut.
func (s *survival) close(well bool) error {
	if s.folder == nil {
		return nil
	}
	return s.folder.Close(well)
}

// saved is a part of a cut that is in the folder, or the error of saving it.
type saved struct {
	lives.Held
	err error
}

// saves has the folder take the parts of this node that are complete.
func (c *cuts) saves(ctx context.Context) {
	for {
		f, records, is := c.keeper.Saves()
		if !is {
			return
		}
		c.write(ctx, func() {
			began := time.Now()
			f.Processors = c.rt.o.Nodes.used()
			err := c.folder.Save(f, records)
			c.spent.Add(int64(time.Since(began)) / copyCost) // nodes do not send and take it
			c.post(event{saved: &saved{f.Held, err}})
		})
	}
}

// isSaved tells the chair of a part that is on disk. If a part could not be saved, the cut will not be whole, so the chair asks for a later one.
func (c *cuts) isSaved(ctx context.Context, s saved) {
	if s.err == nil {
		c.send(ctx, c.keeper.Saved(s.Held))
		return
	}
	c.rt.o.Nodes.survival.log.fails()
	c.rt.o.Log.Error("orwl: a cut is not on disk, and the one before stays", "cut", s.Key, "why", s.err)
	c.send(ctx, c.keeper.Passed(s.Round, 0))
}

// keeps has the goroutine of the folder drop the cuts before the last two whole ones.
func (c *cuts) keeps(ctx context.Context, whole lives.Key) {
	if c.folder == nil {
		return
	}
	c.write(ctx, func() { c.keep(whole) })
}

// keep drops the cuts before the last two whole ones. One goroutine at a time uses the folder.
func (c *cuts) keep(whole lives.Key) {
	if err := c.folder.Keep(whole); err != nil {
		c.rt.o.Log.Warn("orwl: old cuts stay in the folder", "why", err)
	}
}

// write gives the goroutine of the folder a job, unless the life ends first.
func (c *cuts) write(ctx context.Context, job func()) {
	select {
	case c.disk <- job:
	case <-ctx.Done():
	}
}

// writes is the goroutine that uses the folder while the run goes on.
func (c *cuts) writes(ctx context.Context) {
	for {
		select {
		case job := <-c.disk:
			job()
		case <-ctx.Done():
			return
		}
	}
}
