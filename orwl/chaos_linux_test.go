package orwl

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
)

// runMore is the part of TestMore with processes.
func runMore(t *testing.T) {
	t.Run("Partition", TestPartition)
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
		checkHistory(t, c.all(), at)
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
