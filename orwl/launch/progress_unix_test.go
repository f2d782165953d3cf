//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var errEnough = errors.New("enough")

// progressing says how far it is, until it is asked to end.
func progressing() int {
	p := attend()
	if p.Progress == nil {
		return 0
	}
	for i := range int64(3) {
		if err := p.Progress(Progress{What: "the work", Done: i * int64(p.Node+1), Total: 100}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	select {} // until it is asked to end
}

// Nodes tell how far they are, here and over ssh.
func TestProgress(t *testing.T) {
	for name, run := range map[string]func() Run{"here": func() Run { return of("progressing") }, "over ssh": func() Run { return elsewhere("progressing") }} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			fakeSSH(t)
			r, last := run(), make(map[int]int64)
			ctx, stop := context.WithCancelCause(soon(t))
			defer stop(nil)
			r.Progress = func(node int, p Progress) {
				if p.What != "the work" || p.Total != 100 || p.Done%int64(node+1) != 0 || p.Done < last[node] {
					t.Errorf("node %d says %+v after %d", node, p, last[node])
				}
				last[node] = p.Done
				if last[0] == 2 && last[1] == 4 && last[2] == 6 {
					stop(errEnough)
				}
			}
			if err := Spawn(ctx, r); err != errEnough {
				t.Errorf("the run ends with %v, and nodes have said %v", err, last)
			}
		})
	}
}

// Nodes that are not asked have nothing to tell.
func TestNoProgress(t *testing.T) {
	if err := Spawn(soon(t), of("progressing")); err != nil {
		t.Error(err)
	}
}
