package orwl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/launch"
)

// TestEndsKept has a program go through the same resource in several runs, and its size changes behind the first one. Together the ends of the runs have
// no more bytes than the resource, so the nodes keep the ends of the first two runs, and no other cut.
func TestEndsKept(t *testing.T) {
	t.Parallel()
	const runs = 5
	for i, err := range runOn(2, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
		r, s := rt.Resource("r", 0), rt.o.Nodes.survival
		for run := range runs {
			cuts := s.log.state().Cuts
			for i := range 2 {
				task := rt.Task(fmt.Sprint("task ", i)).On(i)
				task.Write(r)
				task.Each(-1, func(int) error {
					if s.log.state().Cuts > cuts { // not before, so that each run has a cut that is not its end
						task.Last()
					}
					return nil
				})
			}
			if err := rt.Run(ctx); err != nil {
				return err
			}
			for _, part := range s.keeper.Report().Parts {
				if part.Round != lives.End || part.Run > 2 {
					return fmt.Errorf("behind run %d the node has %v", run+1, part.Key)
				}
			}
			if node > 0 || run > 0 {
				continue
			}
			if err := queue.Section(ctx, core(r), queue.Write, func(p *queue.Place) error { return p.Resize(100) }); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	}
}

// TestCollect has a run make whole cuts of much memory, and of little. The collector is called once behind each large one.
func TestCollect(t *testing.T) {
	for _, size := range []int{largeCut, largeCut - 1} {
		forced := func() uint32 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.NumForcedGC
		}
		before, want := forced(), 0
		for node, err := range runOn(2, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
			task := rt.Task("task").On(0)
			task.Write(rt.Resource("r", size))
			task.Each(-1, func(int) error {
				if rt.o.Nodes.survival.log.state().Cuts > 1 {
					task.Last()
				}
				return nil
			})
			err := rt.Run(ctx)
			if node == 0 && size == largeCut {
				want = int(rt.o.Nodes.survival.log.state().Cuts)
			}
			return err
		}) {
			if err != nil {
				t.Errorf("node %d: %v", node, err)
			}
		}
		if got := int(forced() - before); got != want {
			t.Errorf("%d bytes: the collector was called %d times, want %d", size, got, want)
		}
	}
}

// TestLastRecords has a cut begin while the only task ends. The cut becomes whole by the last record of the task, or by the word that it has ended.
func TestLastRecords(t *testing.T) {
	task := &Task{step: &step{round: 5}}
	for what, last := range map[string]event{
		"record": {task: task, record: &lives.Record{Rounds: 5, Ended: true}},
		"word":   {task: task},
	} {
		rt := &Runtime{o: Options{Log: silent, Nodes: &Nodes{survival: new(survival)}}}
		c := &cuts{rt: rt, keeper: lives.NewKeeper(), tasks: []*Task{task}, number: map[*Task]int{task: 0}, ended: make(map[*Task]lives.Record)}
		c.life = lives.Life{Number: 1, Run: 1, Nodes: 1, Total: 1, Mine: 1}
		c.keeper.Begin(c.life)
		c.send(t.Context(), c.keeper.Ask(60))
		if c.does(t.Context(), last); c.keeper.Whole().Round != 60 {
			t.Errorf("%s: the cut is not whole", what)
		}
	}
}

// TestStopHears has the word come that the life ends with a cut: just before the cuts of a run stop, behind that, or in the next run. The life ends.
func TestStopHears(t *testing.T) {
	whole := lives.Message{Kind: lives.Whole, Key: lives.Key{Life: 1, Run: 1, Round: 60}, Last: true}
	header, bulk := whole.Encode()
	for when, hear := range map[string]func(c *cuts) error{
		"before": func(c *cuts) error {
			err := c.take(0, header, bulk)
			c.stop()
			return err
		},
		"behind": func(c *cuts) error {
			c.stop()
			return c.take(0, header, bulk)
		},
		"in the next run": func(c *cuts) error {
			c.life.Run = 2
			return c.take(0, header, bulk)
		},
	} {
		n := new(Nodes)
		if err := hear(&cuts{rt: &Runtime{o: Options{Nodes: n}}, life: lives.Life{Run: 1, Nodes: 2, Total: 2}, wake: make(chan struct{}, 1)}); err != nil || !errors.Is(n.reason.Why(), errLifeOver) {
			t.Errorf("%s: %v, and the reason is %v", when, err, n.reason.Why())
		}
	}
}

// TestStopKeeps has the cuts of a run stop before the goroutine of the folder has kept the end of the run. The end stays on disk in the next run.
func TestStopKeeps(t *testing.T) {
	f, err := folder.Open(folder.Directory(t.TempDir()), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	round, end, next := lives.Key{Life: 1, Run: 1, Round: 60}, lives.Key{Life: 1, Run: 1, Round: lives.End}, lives.Key{Life: 1, Run: 2, Round: 5}
	for _, key := range []lives.Key{round, end, next} {
		err = errors.Join(err, f.Save(lives.Found{Held: lives.Held{Key: key}}, nil))
	}
	k := lives.NewKeeper()
	k.Begin(lives.Life{Number: 1, Run: 1, Nodes: 1, Disk: true})
	k.Take(0, lives.Message{Kind: lives.Whole, Key: end})
	err = errors.Join(err, f.Keep(round))
	(&cuts{keeper: k, folder: f, cancel: func() {}}).stop()
	for after := range uint64(2) {
		next.Round += after
		err = errors.Join(err, f.Keep(next))
	}
	found, bad := f.Look()
	if err = errors.Join(err, bad, f.Close(false)); err != nil || !slices.ContainsFunc(found.Parts, func(p lives.Found) bool { return p.Key == end }) {
		t.Errorf("%v, and the folder has %+v", err, found.Parts)
	}
}

// silentNode gathers nothing.
type silentNode struct {
	node.Node
	why error
}

func (s silentNode) Gather(context.Context, string, []byte) ([][]byte, error) {
	return nil, fmt.Errorf("gather: %w", s.why)
}

// TestFinishTellsWhy has a node lost when all tasks have ended. The error of the run is the loss, as it is if the node is lost before.
func TestFinishTellsWhy(t *testing.T) {
	n := &Nodes{place: launch.Place{Nodes: 2}, node: &lifeNode{Node: silentNode{why: context.Canceled}}}
	why := &NodeError{Node: 1, Lost: true}
	n.reason.End(why)
	if err := (&Runtime{o: Options{Nodes: n}}).finishLife(t.Context(), new(run)); err != error(why) {
		t.Errorf("the run ends with %v, want %v", err, why)
	}
}

// TestStopAtEnd stops a node while it waits for the tasks of the other one to end. Its run has no result, and the other one's has none then. So it is if
// the task of the other one fails.
func TestStopAtEnd(t *testing.T) {
	for _, fails := range []bool{false, true} {
		for node, err := range stopAtEnd(t, fails) {
			if err == nil {
				t.Errorf("node %d has a result", node)
			}
		}
	}
}

func stopAtEnd(t *testing.T, fails bool) []error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	why := errors.New("this test stops")
	return runOn(2, Options{}, func(ctx context.Context, node int, rt *Runtime) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		for i := range 2 {
			task := rt.Task([]string{"short", "long"}[i]).On(i)
			out := Writes[uint64](task, Array[uint64](rt, task.Name(), 1))
			task.Each(1, func(int) error {
				out.Slice()[0]++
				if i == 1 {
					if fails {
						return why
					}
					close(stop)
					<-stopped
				}
				return nil
			})
		}
		if node == 0 && !fails {
			go func() {
				<-stop
				cancel(why)
			}()
		}
		err := rt.Run(ctx)
		if node == 0 {
			close(stopped)
			if _, is := err.(*NodeError); fails != is || !fails && !errors.Is(err, why) {
				t.Errorf("the run of the node that waits: %v", err)
			}
		}
		return err
	})
}
