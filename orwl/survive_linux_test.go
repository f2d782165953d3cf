package orwl

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/launch"
)

var kills = rings.Size("orwl.kills", 8, 60, 10_000, "TestSurvive: nodes to kill")

// killsVariable says when a node kills itself, for the role survivor: SEAT@EVENT:N, with blanks in between. An event is a
// round, or a text that the log has said N times.
const killsVariable = "ORWL_TEST_KILLS"

// deadly is a log that kills the process at the Nth line with a text.
type deadly struct {
	text string
	left atomic.Int64
}

// Write implements io.Writer.
func (d *deadly) Write(line []byte) (int, error) {
	if d.text != "" && strings.Contains(string(line), d.text) && d.left.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return len(line), nil
}

// survived is the program of the role survivor.
var survived = chain{tasks: 7, rounds: 120, ends: map[int]int{2: 10, 3: 60, 6: 119}}

func init() {
	actors["survivor"] = func() int {
		round, log := -1, new(deadly)
		for _, text := range strings.Fields(os.Getenv(killsVariable)) {
			seat, when, _ := strings.Cut(text, "@")
			event, n, _ := strings.Cut(when, ":")
			number, err := strconv.Atoi(n)
			switch {
			case err != nil:
				fmt.Fprintln(os.Stderr, err)
				return 2
			case seat != os.Getenv("ORWL_NODE"):
			case event == "round":
				round = number
			default:
				log.text = strings.ReplaceAll(event, "_", " ")
				log.left.Store(int64(number))
			}
		}
		o := Options{
			Survive: Survive{Interval: 2 * time.Millisecond},
			Log:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		err := Run(context.Background(), o, func(ctx context.Context, rt *Runtime) error {
			numbers, folded := survived.declare(rt, func(_, now int) error {
				if now == round {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
				busy(50_000)
				return nil
			})
			if err := rt.Run(ctx); err != nil {
				return err
			}
			return survived.check(ctx, numbers, folded)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "ended:", err)
			return 1
		}
		fmt.Println("done")
		return 0
	}
}

// fatal are the events at which a node may die: in a round, when a cut is whole, when a life is about to begin.
func fatal(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprint("a_cut_is_whole:", 1+r.IntN(5))
	case 1:
		return fmt.Sprint("the_run_goes_on:", 1+r.IntN(2))
	}
	return fmt.Sprint("round:", r.IntN(survived.rounds))
}

// TestSurvive kills nodes of a run at rounds and events of a seed: also several at once, and those that are about to begin the
// next life. All that are left end well, with the bits of an undisturbed run.
func TestSurvive(t *testing.T) {
	t.Parallel()
	var lost atomic.Int64
	var running sync.WaitGroup
	slots := make(chan struct{}, 3)
	for seed := uint64(0); int(lost.Load()) < kills.N() && !t.Failed(); seed++ {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			lost.Add(int64(survives(t, seed)))
		})
	}
	running.Wait()
}

// survives plays a run, and returns how many nodes were to die.
func survives(t *testing.T, seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 1))
	nodes := 2 + r.IntN(4)
	victims := r.Perm(nodes)[:1+r.IntN(min(3, nodes-1))]
	var all []string
	for _, v := range victims {
		all = append(all, fmt.Sprintf("%d@%s", v, fatal(r)))
	}
	var said strings.Builder
	out := new(strings.Builder)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := launch.Spawn(ctx, launch.Run{
		Nodes: nodes, Program: os.Args[0], Env: []string{roleVariable + "=survivor", killsVariable + "=" + strings.Join(all, " ")},
		Stdout: out, Stderr: &said,
	})
	if done := strings.Count(out.String(), "done"); err != nil || done < nodes-len(victims) {
		t.Errorf("seed %d: %d nodes, kills %v: %d have ended well, %v\n%s", seed, nodes, all, done, err, said.String())
	}
	return len(victims)
}
