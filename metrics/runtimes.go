package metrics

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// ended reports whether an error is the end of a context.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Watch adds a runtime: metrics tell what has stalled in it, and what is broken.
func (m *Metrics) Watch(rt *orwl.Runtime) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rts = append(m.rts, rt)
}

// Life adds the runtime of a life of [orwl.Run], and its nodes. The runtime, the tasks and the resources of the life before go, and what
// they have counted stays. Call it before the program declares anything.
func (m *Metrics) Life(rt *orwl.Runtime) {
	m.mu.Lock()
	before := m.rts
	m.mu.Unlock()
	var stalls, taken uint64
	for _, rt := range before {
		state := rt.Inspect() // with m unlocked, as in Collect
		stalls += state.Stalls
		if state.Workers != nil {
			taken += state.Workers.Taken
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range slices.Clone(m.tasks) {
		m.drop(t)
	}
	clear(m.records)
	m.past.stalls += stalls
	m.past.taken += taken
	m.past.site = m.site()
	m.rts = []*orwl.Runtime{rt}
	m.join(lifeNodes{rt})
}

// members are the nodes of a run, as this one sees them.
type members interface {
	Count() int
	Network() node.Node
	Counts() queue.SiteCounts
}

// lifeNodes are the nodes of a runtime.
type lifeNodes struct{ rt *orwl.Runtime }

func (l lifeNodes) Count() int               { return l.rt.Nodes() }
func (l lifeNodes) Counts() queue.SiteCounts { return l.rt.Counts() }

func (l lifeNodes) Network() node.Node { return inner.OfRuntime(l.rt).Network() }

// Nodes adds the nodes of a run, as this one sees them. Nil, or a run of one node, is
// fine.
func (m *Metrics) Nodes(nodes *orwl.Nodes) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.join(nodes)
}

// join is Nodes. m.mu is held.
func (m *Metrics) join(nodes members) {
	m.nodes = nodes
	if network := nodes.Network(); network != nil {
		network.OnTrip(func(ns int64) { m.trips.observe(ns, 1) })
	}
}

// site is what this life and those before have counted of resources. m.mu is held.
func (m *Metrics) site() queue.SiteCounts {
	c, p := m.nodes.Counts(), m.past.site
	return queue.SiteCounts{
		Sent: c.Sent + p.Sent, Received: c.Received + p.Received, BytesOut: c.BytesOut + p.BytesOut, BytesIn: c.BytesIn + p.BytesIn,
		Replayed: c.Replayed + p.Replayed, OtherLife: c.OtherLife + p.OtherLife, Malformed: c.Malformed + p.Malformed,
		Gaps: c.Gaps + p.Gaps, Unknown: c.Unknown + p.Unknown, Strays: c.Strays + p.Strays,
		Expired: c.Expired + p.Expired, Fenced: c.Fenced + p.Fenced, Revoked: c.Revoked + p.Revoked,
	}
}

// looked is what a look at the runtimes has found for the other metrics.
type looked struct {
	broken int // resources
	queued int // tasks that are ready, and have no worker
	remote int // tasks that wait for another node
	taken  uint64
	grids  []inspect.Grid
}

// collectRuntimes is called with m unlocked.
func (m *Metrics) collectRuntimes(s sink) (found looked) {
	m.mu.Lock()
	rts, nodes, stalls := slices.Clone(m.rts), m.nodes, m.past.stalls
	found.taken = m.past.taken
	m.mu.Unlock()
	var stalled, awake, asleep int
	var life *inspect.Life
	for _, rt := range rts {
		state := rt.Inspect()
		stalls += state.Stalls
		if state.Stalled {
			stalled = 1
		}
		for _, r := range state.Resources {
			if r.Broken {
				found.broken++
			}
		}
		for _, t := range state.Tasks {
			if t.State == inspect.TaskQueued {
				found.queued++
			}
		}
		found.remote += remoteWaits(state)
		if w := state.Workers; w != nil {
			awake, asleep = awake+w.All-w.Asleep, asleep+w.Asleep
			found.taken += w.Taken
		}
		found.grids = inspect.AddGrids(found.grids, state.Grids)
		if state.Life != nil {
			life = state.Life
		}
	}
	s.gauge("orwl_workers", float64(awake), "awake")
	s.gauge("orwl_workers", float64(asleep), "asleep")
	s.count("orwl_worker_takes_total", found.taken)
	collectGrids(s, found.grids)
	collectLife(s, life)
	s.count("orwl_stalls_total", stalls)
	s.gauge("orwl_stalled", float64(stalled))
	s.gauge("orwl_info", 1, version(), runtime.Version(), strconv.Itoa(nodes.Count()))
	return found
}

// remoteWaits is how many tasks of a node wait for what another node sends: the end of a turn, or bytes.
func remoteWaits(s inspect.State) int {
	tasks := make(map[string]bool)
	for _, e := range s.WaitsFor {
		if e.Node != s.Node {
			tasks[e.From] = true
		}
	}
	return len(tasks)
}

// collectLife tells of the lives and cuts of a run that goes on when a node is lost. Otherwise there is nothing to tell.
func collectLife(s sink, l *inspect.Life) {
	if l == nil {
		return
	}
	s.gauge("orwl_life", float64(l.Number))
	s.count("orwl_cuts_total", l.Cuts)
	s.count("orwl_cut_bytes_total", l.Copied)
	s.count("orwl_cut_failures_total", l.Failed)
	s.gauge("orwl_cut_round", float64(l.Round))
	s.gauge("orwl_cut_age_seconds", l.Age.Seconds())
}

// mostGrids is how many grids have a label.
const mostGrids = 16

// collectGrids tells how far the grids of the present run are.
func collectGrids(s sink, all []inspect.Grid) {
	for _, g := range all[:min(len(all), mostGrids)] {
		s.gauge("orwl_grid_sweeps", float64(g.Total), g.Grid)
		s.gauge("orwl_grid_sweeps_done", float64(g.Done), g.Grid)
	}
}

// version is the version of the module in this build.
func version() string {
	const module = "github.com/orwl/go-orwl"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "unknown"
}

const in, out = "in", "out"

func (m *Metrics) collectNodes(s sink) {
	m.collectSite(s)
	n := m.nodes.Network()
	s.histogram("orwl_net_round_trip_seconds", m.trips, 0)
	if n == nil {
		s.gauge("orwl_net_nodes", 1, "here")
		return
	}
	traffic := n.Traffic()
	for k := range wire.Kinds {
		name := wire.Kind(k).String()
		if in := traffic.In[k]; in.Frames > 0 {
			s.count("orwl_net_frames_total", in.Frames, name, "in")
			s.count("orwl_net_bytes_total", in.Bytes, name, "in")
		}
		if out := traffic.Out[k]; out.Frames > 0 {
			s.count("orwl_net_frames_total", out.Frames, name, "out")
			s.count("orwl_net_bytes_total", out.Bytes, name, "out")
		}
	}
	c := n.Counts()
	s.count("orwl_net_retries_total", c.Retries.Load())
	s.count("orwl_net_resumes_total", c.Resumes.Load())
	s.count("orwl_net_duplicates_total", c.Duplicates.Load())
	s.count("orwl_net_refused_total", c.Strangers.Load(), "stranger")
	s.count("orwl_net_refused_total", c.Refused.Load(), "refused")
	s.count("orwl_net_refused_total", c.Malformed.Load(), "malformed")
	s.count("orwl_net_refused_total", c.Oversize.Load(), "oversize")
	s.count("orwl_net_refused_total", c.Checksums.Load(), "checksum")
	s.count("orwl_net_loans_total", c.Borrowed.Load(), in)
	s.count("orwl_net_loans_total", c.Lent.Load(), out)
	collectStates(s, n)
}

// collectStates says how many nodes are there.
func collectStates(s sink, n node.Node) {
	var here, suspected, gone int
	for i := range n.Nodes() {
		switch {
		case n.Lost(i) != nil:
			gone++
		case n.Suspected(i):
			suspected++
		default:
			here++
		}
	}
	// A node that closes takes no other for lost: they do so, too.
	lost := min(gone, int(n.Counts().Lost.Load()))
	left := gone - lost
	s.gauge("orwl_net_nodes", float64(here), "here")
	s.gauge("orwl_net_nodes", float64(suspected), "suspected")
	s.gauge("orwl_net_nodes", float64(lost), "lost")
	s.gauge("orwl_net_nodes", float64(left), "left")
}

func (m *Metrics) collectSite(s sink) {
	c := m.site()
	s.count("orwl_resource_messages_total", c.Received, in)
	s.count("orwl_resource_messages_total", c.Sent, out)
	s.count("orwl_resource_bytes_total", c.BytesIn, in)
	s.count("orwl_resource_bytes_total", c.BytesOut, out)
	s.count("orwl_resource_refused_total", c.Replayed, "replayed")
	s.count("orwl_resource_refused_total", c.OtherLife, "other_life")
	s.count("orwl_resource_refused_total", c.Malformed, "malformed")
	s.count("orwl_resource_refused_total", c.Gaps, "gap")
	s.count("orwl_resource_refused_total", c.Unknown, "unknown")
	s.count("orwl_leases_expired_total", c.Expired)
	s.count("orwl_fences_total", c.Fenced)
	s.count("orwl_revocations_total", c.Revoked)
}
