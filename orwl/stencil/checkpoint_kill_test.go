package stencil

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

// victimVariable gives its directory to a test binary that TestKill has started.
const victimVariable = "ORWL_TEST_CHECKPOINTS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimVariable); dir != "" {
		if err := victim(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(crewVariable); dir != "" {
		if err := crew(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const victimSweeps = 400

// victim continues the grid in a directory, and prints its sweeps.
func victim(dir string) error {
	rt, err := orwl.New(orwl.Options{Log: silent})
	if err != nil {
		return err
	}
	g := New(rt, Options{Size: Size{64, 64}, Blocks: Size{1 + rand.IntN(4), 1 + rand.IntN(4)}, Sweeps: 1 + rand.IntN(3), Checkpoint: Checkpoint{Dir: dir, Every: 2}, Resume: dir})
	u := NewField(g, "u", FieldOptions[uint64]{Halo: Around(1), Initial: func(at []int) uint64 { return mixed(1, at...) }})
	var newest atomic.Int64
	err = g.Sweep(victimSweeps, func(b *Block) {
		if n := int64(b.Sweep()); newest.Swap(max(n, newest.Load())) < n {
			fmt.Println("sweep", n)
		}
		for r := range b.Rows() {
			for i := range r.Len() {
				u.New(r)[i] = 3*u.Old(r, -1, 0)[i] + u.Old(r, 1, 0)[i] ^ u.Old(r, 0, 1)[i] + uint64(b.Sweep())
			}
		}
	})
	if err != nil {
		return err
	}
	fmt.Println("start", g.start)
	if err := rt.Run(context.Background()); err != nil {
		return err
	}
	if err := g.Verify(context.Background()); err != nil {
		return err
	}
	fmt.Println("verified")
	return nil
}

var kills = rings.Size("stencil.kills", 4, 12, 30, "how often TestKill kills a run")

// A process that is killed at any moment, again and again, goes on from its newest whole
// checkpoint, and has the right result.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	most, resumed, last := 0, 0, ""
	for n := 0; last != "verified"; n++ {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), victimVariable+"="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		left := 1 + rand.IntN(2*victimSweeps/kills.N())
		for lines := bufio.NewScanner(out); lines.Scan(); {
			last = lines.Text()
			if start, ok := strings.CutPrefix(last, "start "); ok {
				at, err := strconv.Atoi(start)
				if err != nil || at < most {
					t.Errorf("run %d continues after %s sweeps, an earlier one after %d", n, start, most)
				}
				if at > most {
					resumed++
				}
				most = max(most, at)
			}
			if left--; left == 0 && n < kills.N() {
				_ = c.Process.Kill() // it may have ended
			}
		}
		if err := c.Wait(); err != nil && (c.ProcessState.ExitCode() == 1 || n >= kills.N()) {
			t.Fatalf("run %d: %v: %s", n, err, last)
		}
	}
	if resumed == 0 {
		t.Error("no run has continued another one")
	}
	t.Logf("%d runs have continued another one, the last one after %d sweeps", resumed, most)
}
