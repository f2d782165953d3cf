package orwl

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// TestLossIsSaidOnce lets a node go that holds several resources of another. The log of
// the home says it once, and counts what was lost.
func TestLossIsSaidOnce(t *testing.T) {
	var out bytes.Buffer
	nodes := crewWith(t, 2, func(node int) *slog.Logger {
		if node == 0 {
			return slog.New(slog.NewTextHandler(&out, nil))
		}
		return silent
	})
	left := make(chan struct{})
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		var all []*resource.Resource
		for at := range 3 {
			r := rt.Resource(name(at), 8)
			rt.Home(r, 0)
			all = append(all, r)
		}
		rt.Task("stays").On(0).Do(func(*Task) error {
			<-left
			return nil
		})
		rt.Task("leaves").On(1).Do(func(task *Task) error {
			defer close(left)
			for _, r := range all {
				var h handle.Handle
				if err := h.Request(r, queue.Write); err != nil {
					return err
				}
				if err := h.Acquire(task.Context()); err != nil {
					return err
				}
			}
			return n.node.Close(context.Background())
		})
		err := rt.Run(context.Background())
		if i == 0 && !errors.Is(err, resource.ErrLost) {
			t.Errorf("the run of the home: %v, want the loss of node 1", err)
		}
		if err := n.Close(context.Background()); i == 0 && err != nil {
			t.Error(err)
		}
	})
	const what = `msg="orwl: a node has lost what it held" peer=1 resources=3 grants=3 `
	if n := strings.Count(out.String(), "lost what it held"); n != 1 || !strings.Contains(out.String(), what) {
		t.Errorf("the loss is said %d times, want once, as %q:\n%s", n, what, out.String())
	}
}
