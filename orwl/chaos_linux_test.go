package orwl

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
)

var chaosSeeds = rings.Seeds("orwl.chaos", 1, 16, "TestChaos, TestSilence: seeds of each scenario")

// scene is a crew of three with the victim in a role. The fault comes while it is
// there.
type scene struct {
	*chaosCrew
	victim   int
	at       int   // the resource
	helper   int   // the node that holds it, or -1
	hit      int64 // when
	survives []int
}

// roles bring the victim into a role. The comments say how each resource is used.
var roles = map[string]struct {
	home  bool // the victim is the resource's home
	enter func(s *scene)
}{
	// The victim holds.
	"reader": {false, func(s *scene) { s.hold(s.victim, s.at, queue.Read, "held") }},
	"writer": {false, func(s *scene) { s.hold(s.victim, s.at, queue.Write, "held") }},
	// The victim waits for a survivor.
	"waiter": {false, func(s *scene) {
		s.helper = s.survives[1]
		s.hold(s.helper, s.at, queue.Write, "held")
		s.hold(s.victim, s.at, queue.Write, "call")
	}},
	// One survivor holds the victim's resource, another one waits for it.
	"home": {true, func(s *scene) {
		s.helper = s.survives[1]
		s.hold(s.helper, s.at, queue.Write, "held")
		s.hold(s.survives[0], s.at, queue.Read, "call")
	}},
}

// TestChaos kills processes while they hold, wait, or are the home. The others are served, or
// learn of the loss. All that the nodes have seen is a history of a register.
//
// The others notice the end of a process by its connections. So the lease does not matter.
func TestChaos(t *testing.T) { chaos(t, unhurried, syscall.SIGKILL) }

// TestSilence is TestChaos with processes that are stopped until the others have lost them. A
// stopped process that goes on finds out.
func TestSilence(t *testing.T) {
	rings.Silence(t)
	chaos(t, quiet, syscall.SIGSTOP)
}

func chaos(t *testing.T, lease time.Duration, fault syscall.Signal) {
	t.Parallel()
	for name, role := range roles {
		for seed := range chaosSeeds.All() {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				s := &scene{victim: int(seed+uint64(name[0])+uint64(fault)) % 3, helper: -1} // node 0, too
				s.chaosCrew = muster(t, lease, "clients", 3, seed)
				s.survives = []int{(s.victim + 1) % 3, (s.victim + 2) % 3}
				if s.at = s.survives[0]; role.home {
					s.at = s.victim
				}
				for _, node := range s.survives {
					for at := range 3 {
						s.served(node, at, 0)
					}
				}
				role.enter(s)
				s.strike(fault)
				s.check(name)
			})
		}
	}
}

// runMore is the part of TestMore with processes.
func runMore(t *testing.T) {
	t.Run("Chaos", TestChaos)
	t.Run("Partition", TestPartition)
}

// strike hits the victim, and checks that the others go on without it.
func (s *scene) strike(fault syscall.Signal) {
	s.hit = s.signal(s.victim, fault)
	switch {
	case s.helper < 0:
	case s.at == s.victim:
		// Both learn of it: the holder by its context, the waiter by its Acquire.
		for _, node := range s.survives {
			n := s.await(fmt.Sprintf("the news at node %d", node), func(n said) bool { return n.by == node && n.Actor && n.What == "done" })
			if n.Verdict != toldLost {
				s.t.Errorf("node %d, of a home that is lost: %+v", node, n)
			}
		}
	default:
		s.command(s.helper, "go")
	}
	for _, node := range s.survives {
		for at := range 3 {
			if at != s.victim {
				s.served(node, at, s.hit)
			}
		}
	}
	for _, node := range s.survives {
		s.loses(node, s.victim)
	}
	if fault == syscall.SIGSTOP {
		s.goOn()
	}
	for _, node := range s.survives {
		s.command(node, "stop")
	}
	lost := fmt.Sprintf("a write of %q was released and may be lost", name(s.victim))
	for _, node := range s.survives {
		if n := s.ended(node); n.Verdict != served && !(n.Verdict == toldLost && strings.Contains(n.Text, lost)) {
			s.t.Errorf("the run of node %d, which goes on: %s", node, n.Text)
		}
	}
}

// goOn continues the stopped victim, and checks that it finds out.
func (s *scene) goOn() {
	s.signal(s.victim, syscall.SIGCONT)
	if n := s.ended(s.victim); n.Verdict != toldLost {
		s.t.Errorf("the run of the victim: %+v", n)
	}
	if s.at == s.victim {
		return
	}
	n := s.await("the end of what the victim held", func(n said) bool { return n.by == s.victim && n.Actor && n.What == "done" })
	if n.Verdict == served || n.Verdict == wrong {
		s.t.Errorf("what the victim held or waited for: %+v", n)
	}
}

// check checks all notes.
func (s *scene) check(role string) {
	notes := s.all()
	for at := range 3 {
		checkHistory(s.t, notes, at, s.victim)
	}
	told := make(map[int]bool)    // resources with a node that was told of a lost writer
	seen := make(map[uint64]bool) // values that some node has read
	for _, n := range notes {
		if n.Verdict == wrong {
			s.t.Errorf("node %d: %s", n.by, n.Text)
		}
		if n.Seen != nil {
			seen[n.Seen.Value] = true
			told[n.At0] = told[n.At0] || n.Seen.Prior
		}
	}
	lost := make(map[int]bool) // resources that may have lost the victim as a writer
	for _, n := range notes {
		if n.by == s.victim && n.Token != 0 && !seen[n.Token] {
			lost[n.At0] = true
		}
	}
	if role == "writer" && !told[s.at] {
		s.t.Errorf("no node was told that the writer of %s was lost", name(s.at))
	}
	for at := range 3 {
		if told[at] && !lost[at] && at != s.victim { // to which the others were lost, once it was stopped
			s.t.Errorf("a node was told that a writer of %s was lost, and none was", name(at))
		}
	}
}

// TestSlowReader lets a node hold for longer than the lease. No other node takes it for
// lost.
func TestSlowReader(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	c := muster(t, quiet, "clients", 3, 1)
	held := c.hold(1, 0, queue.Read, "held")
	c.hold(2, 0, queue.Write, "call")
	<-time.After(2 * quiet)
	for node := range 3 {
		for at := 1; at < 3; at++ {
			c.served(node, at, held.At)
		}
	}
	c.command(1, "go")
	if n := c.await("the end of the reader", func(n said) bool { return n.by == 1 && n.Actor && n.What == "done" }); n.Verdict != served {
		t.Errorf("the reader: %+v", n)
	}
	c.await("the writer behind it", func(n said) bool { return n.by == 2 && n.Actor && n.What == "held" })
	c.command(2, "go")
	for node := range 3 {
		c.command(node, "stop")
	}
	for node := range 3 {
		if n := c.ended(node); n.Verdict != served {
			t.Errorf("node %d: %s", node, n.Text)
		}
	}
	for at := range 3 {
		checkHistory(t, c.all(), at, -1)
	}
}

// TestLostNodeEndsRun kills a node of a program of tasks. The runs of all other nodes end, by
// one error that names it, and leave nothing behind.
func TestLostNodeEndsRun(t *testing.T) {
	t.Parallel()
	for victim := range 3 {
		t.Run(fmt.Sprint(victim), func(t *testing.T) {
			t.Parallel()
			endsRuns(t, unhurried, victim, syscall.SIGKILL)
		})
	}
}

// TestSilentNodeEndsRun is TestLostNodeEndsRun with a node that is stopped. Its own run ends
// when it goes on.
func TestSilentNodeEndsRun(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	for victim := range 3 {
		t.Run(fmt.Sprint(victim), func(t *testing.T) {
			t.Parallel()
			c := endsRuns(t, quiet, victim, syscall.SIGSTOP)
			c.signal(victim, syscall.SIGCONT)
			if n := c.ended(victim); n.Verdict != toldLost {
				t.Errorf("the victim, node %d: %s: %s", victim, n.Verdict, n.Text)
			} else {
				t.Log(n.Text)
			}
		})
	}
}

func endsRuns(t *testing.T, lease time.Duration, victim int, fault syscall.Signal) *chaosCrew {
	c := muster(t, lease, "ring", 3, 0)
	c.signal(victim, fault)
	for node := range 3 {
		if node == victim {
			continue
		}
		if n := c.ended(node); n.Verdict != toldLost || n.Node != victim {
			t.Errorf("node %d ends with node %d, %s: %s", node, n.Node, n.Verdict, n.Text)
		}
	}
	return c
}
