//go:build unix

package dashboards

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/queue"
	netnode "github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
)

// The test binary is also a node of a run, in a process that can be stopped.
const envActor = "DASHBOARDS_TEST_ACTOR"

// A large clock skew keeps a node suspected for 5 s before it is lost, and Prometheus looks twice a
// second. With the long lease, a machine that is busy with other tests does not have connections
// replaced.
const (
	lease = 9 * time.Second
	skew  = 2500 * time.Millisecond
)

// skewed is the network of nodes with this skew.
type skewed struct{ nodes.Network }

func (s skewed) Join(ctx context.Context, o netnode.Options) (netnode.Node, error) {
	o.Skew = skew
	return s.Network.Join(ctx, o)
}

// pair declares what both nodes of silent's run do: node 1 holds what is kept on node 0.
func pair(n *node, held func()) (*orwl.Runtime, *queue.Resource, error) {
	rt, err := n.program(orwl.Options{})
	if err != nil {
		return nil, nil, err
	}
	r := rt.Resource("kept on node 0", 8)
	home := rt.Task("home").On(0)
	home.Do(func(task *orwl.Task) error { <-task.Context().Done(); return context.Cause(task.Context()) })
	rt.Task("holder").On(1).Do(func(task *orwl.Task) error {
		return queue.Section(task.Context(), (*queue.Resource)(r), queue.Write, func(*queue.Place) error {
			held()
			<-task.Context().Done()
			return context.Cause(task.Context())
		})
	})
	rt.Home(r, 0)
	return rt, (*queue.Resource)(r), nil
}

// holdUntilTold is node 1 in a process of its own. It serves its metrics until its input
// ends, whatever becomes of the run.
func holdUntilTold(root string) error {
	nodes, err := orwl.Join(context.Background(), orwl.JoinOptions{
		Place: &launch.Place{Node: 1, Nodes: 2, Listen: "127.0.0.1:0", Root: root}, Lease: lease, Network: skewed{}, Log: quiet,
	})
	if err != nil {
		return err
	}
	n, _, err := serve(nodes)
	if err != nil {
		return err
	}
	rt, _, err := pair(n, func() { fmt.Println(n.address) })
	if err != nil {
		return err
	}
	go func() {
		if err := rt.Run(context.Background()); !errors.Is(err, queue.ErrLost) { // it fails, since it is lost
			fmt.Fprintln(os.Stderr, "node 1:", err)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// silent is a run of two processes. One holds a resource that is kept on the other, and is
// stopped for so long that it is lost.
func silent(t *testing.T, s *promserver.Server) *scene {
	root := make(chan string, 1)
	cmd := exec.Command(os.Args[0])
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	joined := make(chan *orwl.Nodes, 1)
	go func() {
		joined <- join(t, orwl.JoinOptions{
			Place: &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Report: func(a string) error { root <- a; return nil }},
			Lease: lease, Network: skewed{},
		})
	}()
	cmd.Env = append(os.Environ(), envActor+"="+<-root)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signal := func(sig os.Signal) {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		signal(syscall.SIGCONT)
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	nodes := <-joined
	if nodes == nil {
		t.FailNow()
	}
	n := show(t, nodes)
	rt, r, err := pair(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	goes(t, func(ctx context.Context) {
		err := rt.Run(ctx) // it ends with the loss
		r.Break(err)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	const job = "orwl-silent"
	passing := []string{"OrwlNodeLost", "OrwlNodeSuspected", "OrwlUnreachable", "OrwlUnseenNode"}
	return &scene{
		job: promserver.Job{Name: job, Targets: []string{n.address, strings.TrimSpace(line)}},
		fault: func() {
			signal(syscall.SIGSTOP)
			for _, alert := range passing {
				s.Until(fmt.Sprintf("ALERTS{job=%q, alertname=%q}", job, alert), func(v float64) bool { return v == 1 })
			}
			signal(syscall.SIGCONT)
		},
		during: passing,
		alerts: []string{"OrwlLeaseExpired", "OrwlBrokenLock", "OrwlRevoked"},
	}
}
