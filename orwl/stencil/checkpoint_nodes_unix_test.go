//go:build unix

package stencil

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// killer reads what the nodes of a run say, and kills one when all have saved something.
type killer struct {
	victim int // its number; none if it is negative
	pids   map[int]int
	start  map[int]int
	saved  map[int]int
	whole  int // the sweeps that all had saved when one was killed
	said   strings.Builder
}

// Write gets a line of a node.
func (k *killer) Write(line []byte) (int, error) {
	k.said.Write(line)
	var node, n, pid int
	if _, err := fmt.Sscanf(string(line), "[%d] start %d pid %d", &node, &n, &pid); err == nil {
		k.start[node], k.pids[node] = n, pid
	}
	if _, err := fmt.Sscanf(string(line), "[%d] saved %d", &node, &n); err != nil || k.whole > 0 {
		return len(line), nil
	}
	k.saved[node] = n
	pid, known := k.pids[k.victim]
	if !known || len(k.saved) < len(k.pids) {
		return len(line), nil
	}
	k.whole = crewSweeps
	for _, n := range k.saved {
		k.whole = min(k.whole, n)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	return len(line), nil
}

// A node of several is killed. Runs on another number of nodes, in other blocks, go on from what
// all of them had saved, and have the right result.
func TestKillOneNode(t *testing.T) {
	dir := t.TempDir()
	whole := 0
	for leg, c := range []struct{ nodes, victim int }{{2, 1}, {3, 0}, {2, -1}} {
		k := &killer{victim: c.victim, pids: make(map[int]int), start: make(map[int]int), saved: make(map[int]int)}
		err := launch.Spawn(t.Context(), launch.Run{
			Nodes: c.nodes, Program: os.Args[0], Args: []string{"-test.run", "^$"}, Grace: 100 * time.Millisecond,
			Env:    []string{crewVariable + "=" + dir, fmt.Sprintf("%s=%d", crewLeg, leg), "ORWL_LEASE=1m"}, // a busy machine loses no other node
			Stdout: k, Stderr: io.Discard,
		})
		for node, start := range k.start {
			if start != k.start[0] || start < whole {
				t.Errorf("leg %d: node %d continues after %d sweeps, node 0 after %d, and %d were saved", leg, node, start, k.start[0], whole)
			}
		}
		if verified := strings.Count(k.said.String(), "verified"); c.victim < 0 && (err != nil || verified != c.nodes) {
			t.Fatalf("leg %d: %v, %d nodes have verified the result:\n%s", leg, err, verified, k.said.String())
		}
		t.Logf("leg %d: from %d, %d were saved by all when a node was killed: %v", leg, k.start[0], k.whole, err)
		whole = max(whole, k.whole)
	}
}
