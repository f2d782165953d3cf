package orwl

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// A runtime may have several runs, and a later life begins each of them from the last cut of that run. So a run that has ended keeps its cuts. It may
// have one more cut at its end. The resources do not change until that cut is whole.
//
//	all tasks have ended ──▶ all tell ──▶ Judge ──▶ chair: Ask the end ──▶ whole ──▶ Run returns
//	                                        └─▶ Run returns

// endCost is about the time that a cut at the end takes without its bytes. A folder adds diskCost. Each byte takes about
// coldCost: for the copy, and for both ends of a connection. See mostCost.
const (
	endCost  = 500 * time.Microsecond
	diskCost = 2 * time.Millisecond
)

// finishLife waits until the tasks of all nodes have ended, in a run that goes on when a node is lost. None has failed.
func (rt *Runtime) finishLife(ctx context.Context, r *run) error {
	n := rt.o.Nodes
	all, err := rt.gather(ctx, "end", r.cuts.finish(ctx))
	if err == nil {
		err = r.cuts.ends(ctx, all)
	}
	if why := n.reason.Why(); err != nil && why != nil {
		err = why // the cause
	}
	return err
}

// finish is what this node tells the others when its tasks have ended.
func (c *cuts) finish(ctx context.Context) []byte {
	if c == nil {
		return nil
	}
	told := make(chan []byte, 1)
	c.post(event{finish: told})
	select {
	case text := <-told:
		return text
	case <-ctx.Done(): // the others will not hear it
		return nil
	}
}

// tellFinish is what finish tells. It is called by the goroutine of the cuts, which may read a resource for a cut until then.
func (c *cuts) tellFinish() []byte {
	f := lives.Finish{Took: int64(time.Since(c.began)), Wanted: c.keeper.Wanted(), Writes: c.written()}
	f.Least, f.LeastFor = c.least()
	for name, r := range c.rt.resources {
		if c.rt.homes[name] == c.life.Me {
			f.Homes += int64(r.Inspect().Size)
		}
	}
	return message.Finish{Finish: f}.Encode()
}

// interval is the time to the next cut after one for which this node has worked for some time.
func (c *cuts) interval(spent time.Duration) time.Duration {
	switch s := c.rt.o.Nodes.survival; {
	case c.rt.o.Survive.Interval > 0:
		return c.rt.o.Survive.Interval
	case s.seed != 0:
		return tick / 2
	}
	return max(leastInterval, time.Duration(float64(spent)*copyCost/mostCost/float64(processors())))
}

// written is how many bytes the resources have that tasks of this node write.
func (c *cuts) written() (sum int64) {
	for _, all := range c.writers {
		if last := all[len(all)-1]; last.task.here() { // only its node counts the resource
			sum += int64(last.resource.Inspect().Size)
		}
	}
	return sum
}

// least is how long a run must take to have a cut at its end: some time, and some for each byte of the cut, in nanoseconds.
func (c *cuts) least() (least, each int64) {
	s := c.rt.o.Nodes.survival
	switch {
	case c.rt.o.Survive.Interval > 0:
		return int64(c.rt.o.Survive.Interval), 0
	case s.seed != 0:
		return 0, 0
	}
	cost := endCost
	if c.folder != nil {
		cost += diskCost
	}
	return int64(float64(cost) / mostCost), max(1, int64(coldCost/mostCost/float64(c.rt.Processors())))
}

// ends is called with what the nodes have told when all tasks have ended well. It returns when it is known if the run has a cut at its end.
func (c *cuts) ends(ctx context.Context, said [][]byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var all []lives.Finish
	for node, text := range said {
		if text == nil {
			return &NodeError{Node: node, Lost: true, Text: "it was lost before the run ended"}
		}
		if c == nil {
			continue
		}
		f, err := message.ParseFinish(text)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if c == nil {
		return nil
	}
	s := c.rt.o.Nodes.survival
	verdict, bytes := lives.Judge(all, s.kept)
	if c.from == lives.End {
		verdict = lives.Keeps // the run has begun from that cut, and the nodes send copies of it
	}
	switch verdict {
	case lives.Forgot:
		c.forgets = true
		c.rt.o.Log.Debug("orwl: the cuts of a run are dropped", "life", s.life, "run", c.life.Run)
		return nil
	case lives.Stays:
		return nil
	}
	c.post(event{ending: true})
	select {
	case <-c.settled:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.kept += bytes
	return c.rt.o.Nodes.reason.Why()
}
