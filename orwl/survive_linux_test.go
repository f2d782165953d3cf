package orwl

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

var (
	kills = rings.Size("orwl.kills", 8, 60, 10_000, "TestSurvive: nodes to kill")
	fires = rings.Size("orwl.fires", 2, 12, 500, "TestSurviveFolder: runs whose processes are all killed, up to three times")
	stops = rings.Size("orwl.stops", 4, 12, 2000, "TestSurviveStops: nodes to stop or kill")
)

// killsVariable says when a node kills itself, for the role survivor: SEAT@EVENT:N, with blanks in between. An event is a
// round, or a text that the log has said N times. At term:N it sends itself SIGTERM in round N, and at stopT:N it stops for T milliseconds.
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

// survived is the program of the role survivor. A reduction ends it. With stagesVariable it has so many runs instead of one, and the same rounds together. Each declares
// its tasks by what the ones before have computed, as in examples/primes.
var survived = chain{tasks: 7, rounds: 120, ends: map[int]int{2: 10, 3: 60, 6: 119}}

const stagesVariable = "ORWL_TEST_STAGES"

// survivorStages are the runs of the program.
func survivorStages() int {
	stages, err := strconv.Atoi(os.Getenv(stagesVariable))
	if err != nil {
		return 1
	}
	return stages
}

func init() {
	actors["survivor"] = func() int {
		round, term, stop, still, log := -1, -1, -1, "", new(deadly)
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
			case event == "term":
				term = number
			case strings.HasPrefix(event, "stop"):
				stop, still = number, event[len("stop"):]
			default:
				log.text = strings.ReplaceAll(event, "_", " ")
				log.left.Store(int64(number))
			}
		}
		o := Options{
			Survive: Survive{Interval: 2 * time.Millisecond},
			Log:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		stops := sync.OnceFunc(func() { stopFor(still) })
		ended, asks := false, sync.OnceFunc(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) }) // a second one is no question
		err := Run(context.Background(), o, func(ctx context.Context, rt *Runtime) error {
			sum, stages := uint64(0), survivorStages()
			for stage := range stages {
				c := survived
				c.rounds /= stages
				c.declared = stage%2 == 0
				c.name = fmt.Sprint(sum, " ")
				numbers, folded := c.declare(rt, func(_, now int) error {
					switch now + stage*c.rounds {
					case round:
						_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					case term:
						asks()
					case stop:
						stops()
					}
					busy(50_000)
					return nil
				})
				if err := rt.Run(ctx); err != nil {
					return err
				}
				ended = stage == stages-1
				if err := c.check(ctx, numbers, folded); err != nil {
					return err
				}
				all, err := Values[uint64](ctx, folded)
				if err != nil {
					return err
				}
				sum += all[0]
			}
			return nil
		})
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "ended:", err)
			return 1
		case ended:
			fmt.Println("done")
		default:
			fmt.Println("left")
		}
		return 0
	}
}

// stopFor stops this process for some milliseconds.
func stopFor(still string) {
	wakes := exec.Command("sh", "-c", fmt.Sprintf("sleep %se-3; kill -CONT %d", still, os.Getpid()))
	wakes.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := wakes.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	_ = wakes.Wait()
}

// fatal are the events at which a node may die: in a round, when a cut is whole, when a life is about to begin. Or it is asked
// to leave.
func fatal(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return fmt.Sprint("a_cut_is_whole:", 1+r.IntN(5))
	case 1:
		return fmt.Sprint("the_run_goes_on:", 1+r.IntN(2))
	case 2:
		return fmt.Sprint("term:", r.IntN(survived.rounds))
	}
	return fmt.Sprint("round:", r.IntN(survived.rounds))
}

// fatalInStages are those in a program of several runs. A node that is asked to leave between two runs ends at once, so none is.
func fatalInStages(r *rand.Rand) string {
	for {
		if event := fatal(r); !strings.HasPrefix(event, "term") {
			return event
		}
	}
}

// TestSurvive kills nodes of a run, or asks them to leave, at rounds and events of a seed: also several at once, and those that are about to begin the
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
			if seed%3 == 0 {
				lost.Add(int64(survives(t, seed, fatalInStages, fmt.Sprint(stagesVariable, "=", 2+seed%10))))
				return
			}
			lost.Add(int64(survives(t, seed, fatal)))
		})
	}
	running.Wait()
}

// TestSurviveStops has nodes stand still for less than a lease, and for more, besides. One that was given up comes again, unless the
// others have ended the run by then.
func TestSurviveStops(t *testing.T) {
	rings.Silence(t)
	for seed, lost := uint64(0), 0; lost < stops.N() && !t.Failed(); seed++ {
		lost += survives(t, seed, func(r *rand.Rand) string {
			if r.IntN(3) == 0 {
				return fatal(r)
			}
			return fmt.Sprintf("stop%03d:%d", 300+r.IntN(700), r.IntN(survived.rounds))
		}, "ORWL_LEASE=600ms")
	}
}

// TestSurviveFolder kills all processes of a run, again and again. The same command goes on from its folder, on as many nodes as there are then.
func TestSurviveFolder(t *testing.T) {
	rings.Costly(t)
	t.Parallel()
	for seed := range uint64(fires.N()) {
		r := rand.New(rand.NewPCG(seed, 2))
		dir := t.TempDir()
		var said strings.Builder
		for left := 1 + r.IntN(3); ; left-- {
			nodes := 1 + r.IntN(3)
			var all []string
			for v := range nodes * min(left, 1) {
				all = append(all, fmt.Sprintf("%d@round:%d", v, r.IntN(survived.rounds)))
			}
			out := new(strings.Builder)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := launch.Spawn(ctx, launch.Run{
				Nodes: nodes, Program: os.Args[0],
				Env:    []string{roleVariable + "=survivor", fmt.Sprint(stagesVariable, "=", 1+seed%4), killsVariable + "=" + strings.Join(all, " "), folderVariable + "=" + dir},
				Stdout: out, Stderr: &said,
			})
			cancel()
			if left > 0 {
				continue
			}
			if done := strings.Count(out.String(), "done"); err != nil || done != nodes {
				t.Fatalf("seed %d: %d of %d nodes have ended well, %v\n%s", seed, done, nodes, err, &said)
			}
			break
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*.cut")); err != nil || len(files) > 0 {
			t.Errorf("seed %d: the run has ended, and the folder has %v: %v", seed, files, err)
		}
	}
}

// survives plays a run, and returns how many nodes had an event.
func survives(t *testing.T, seed uint64, events func(*rand.Rand) string, env ...string) int {
	r := rand.New(rand.NewPCG(seed, 1))
	nodes := 2 + r.IntN(4)
	victims := r.Perm(nodes)[:1+r.IntN(min(3, nodes-1))]
	var all []string
	asked, short := 0, 0
	for _, v := range victims {
		event := events(r)
		all = append(all, fmt.Sprintf("%d@%s", v, event))
		switch {
		case strings.HasPrefix(event, "term"):
			asked++
		case strings.HasPrefix(event, "stop") && event < "stop600": // it is not given up
			short++
		}
	}
	var said strings.Builder
	out := new(strings.Builder)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := launch.Spawn(ctx, launch.Run{
		Nodes: nodes, Program: os.Args[0], Env: append(env, roleVariable+"=survivor", killsVariable+"="+strings.Join(all, " ")),
		Stdout: out, Stderr: &said,
	})
	done, left := strings.Count(out.String(), "done"), strings.Count(out.String(), "left")
	if err != nil || done < nodes-len(victims)+short || done+left < nodes-len(victims)+asked+short || left > asked {
		t.Errorf("seed %d: %d nodes, kills %v: %d have ended well, %d have left, %v\n%s", seed, nodes, all, done, left, err, said.String())
	}
	return len(victims)
}
