package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/folder"
)

// stored is a run with a folder. All its nodes fail from a round on, as if they were gone, as soon as two cuts are on disk. They do not if the round is 0.
type stored struct {
	chain
	dir   string
	fails int
	first atomic.Int64 // the earliest round that a body has seen
	most  atomic.Int64 // the most cuts that the folder had, now and then
	log   lockedBuffer
}

// lockedBuffer takes the logs of several nodes.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (s *stored) run(nodes int) []error {
	s.first.Store(int64(s.rounds))
	o := Options{Survive: Survive{Interval: time.Millisecond, Folder: s.dir}, Log: slog.New(slog.NewTextHandler(&s.log, nil))}
	return runOn(nodes, o, func(ctx context.Context, node int, rt *Runtime) error {
		numbers, all := s.declare(rt, func(task, round int) error {
			for was := s.first.Load(); int64(round) < was && !s.first.CompareAndSwap(was, int64(round)); was = s.first.Load() {
			}
			if task == 0 && round%100 == 99 {
				s.most.Store(max(s.most.Load(), int64(len(s.files()))))
			}
			switch {
			case s.fails == 0 || round < s.fails:
				busy(20_000)
			case len(s.files()) >= 2*nodes:
				return errDies
			default: // so slow that the cuts come before the end
				busy(2_000_000)
			}
			return nil
		})
		if err := rt.Run(ctx); err != nil {
			return err
		}
		return s.check(ctx, numbers, all)
	})
}

// files are the cuts in the folder.
func (s *stored) files() []string {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.cut")) // the pattern is right
	return files
}

// begin runs the program until it fails, with a cut on disk.
func begin(t *testing.T, nodes int) *stored {
	s := &stored{chain: chain{tasks: 7, rounds: 2000, ends: map[int]int{3: 10, 5: 150, 6: 1999}}, dir: t.TempDir(), fails: 100}
	for i, err := range s.run(nodes) {
		if err == nil || !strings.Contains(err.Error(), errDies.Error()) {
			t.Fatalf("node %d: %v, want that it fails", i, err)
		}
	}
	s.fails = 0
	return s
}

// TestFolder has all nodes of a run fail. The same program goes on from the folder, on fewer and on more nodes, and leaves no cut there.
func TestFolder(t *testing.T) {
	for _, nodes := range rings.Sampling([][2]int{{1, 1}, {2, 2}, {3, 1}, {1, 3}, {2, 3}}, [][2]int{{3, 1}, {2, 3}}) {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			s := begin(t, nodes[0])
			of := folder.Processors(folder.Directory(s.dir))
			if again, err := newSurvival(Options{Survive: Survive{Folder: s.dir}}, true); err != nil || of == 0 || again.origin != of {
				t.Errorf("the program was declared for %d processors, as the folder says, and will be for %+v: %v", of, again, err)
			}
			for i, err := range s.run(nodes[1]) {
				if err != nil {
					t.Errorf("node %d: %v\n%s", i, err, &s.log)
				}
			}
			if s.first.Load() < 2 {
				t.Errorf("the run went on from round %d\n%s", s.first.Load(), &s.log)
			}
			if files := s.files(); len(files) > 0 {
				t.Errorf("the folder has %v", files)
			}
			if most := s.most.Load(); most == 0 || most > 6*3 { // two cuts that are whole, and some that may be, of three nodes at most
				t.Errorf("the folder had %d parts of cuts", most)
			}
		})
	}
}

// TestFolderDamaged has a bit of the latest cut flip. The log names the file, and the run goes on from the cut before. With no cut left it does
// not begin anew by itself.
func TestFolderDamaged(t *testing.T) {
	rings.Costly(t)
	t.Parallel()
	s := begin(t, 2)
	damage := func(file string) {
		b, err := os.ReadFile(file)
		if err == nil {
			b[len(b)-1] ^= 1
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := s.files()
	latest := files[len(files)-1] // names are in order
	damage(latest)
	s.fails = 200
	if err := s.run(2)[0]; err == nil || !strings.Contains(s.log.String(), filepath.Base(latest)) || s.first.Load() < 2 {
		t.Errorf("%v, from round %d: want that the log names %s\n%s", err, s.first.Load(), latest, &s.log)
	}
	for _, file := range s.files() {
		damage(file)
	}
	if err := s.run(2)[0]; err == nil || !strings.Contains(err.Error(), "no cut in the folder") {
		t.Errorf("all cuts are damaged: %v", err)
	}
}

// TestFolderOtherRun has a program fail in its second run, with cuts of that on disk. The same command declares another second run then, as its input
// has changed: that begins anew, and leaves no cut there.
func TestFolderOtherRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cuts := func(pattern string) []string {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is right
		return files
	}
	play := func(second string, fails bool) (first int, err error) {
		first = -1
		o := Options{Survive: Survive{Interval: time.Millisecond, Folder: dir}}
		return first, runOn(1, o, func(ctx context.Context, _ int, rt *Runtime) error {
			for i, name := range []string{"first", second} {
				task := rt.Task("task")
				out := Writes[uint64](task, Array[uint64](rt, name, 1))
				rounds := 20
				if i == 1 && fails {
					rounds = math.MaxInt32
				}
				task.Each(rounds, func(round int) error {
					out.Slice()[0]++
					if i == 1 && first < 0 {
						first = round
					}
					if i == 1 && fails {
						if atLeast(time.Millisecond); len(cuts("*-run-002-*")) > 0 {
							return errDies
						}
					}
					return nil
				})
				if err := rt.Run(ctx); err != nil {
					return err
				}
				if got, err := Values[uint64](ctx, rt.Lookup(name)); err != nil || got[0] != 20 {
					return fmt.Errorf("%s: %v, %w", name, got, err)
				}
			}
			return nil
		})[0]
	}
	if _, err := play("second", true); !errors.Is(err, errDies) || len(cuts("*-run-002-*")) == 0 {
		t.Fatalf("%v, and the folder has %v", err, cuts("*"))
	}
	if first, err := play("another", false); err != nil || first != 0 || len(cuts("*.cut")) > 0 {
		t.Errorf("%v, from round %d on, and the folder has %v", err, first, cuts("*"))
	}
}

// TestFolderInUse has two runs in one folder, and one of another program.
func TestFolderInUse(t *testing.T) {
	t.Parallel()
	s := begin(t, 1)
	f, err := folder.Open(folder.Directory(s.dir), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(1)[0]; !errors.Is(err, folder.ErrInUse) {
		t.Errorf("%v, want that the folder is in use", err)
	}
	if err := f.Close(false); err != nil {
		t.Error(err)
	}
	s.rounds++
	if err := s.run(1)[0]; err == nil || !strings.Contains(err.Error(), "no cut in the folder") {
		t.Errorf("another program: %v", err)
	}
}

// TestFolderVariable has the environment name the folder. The cuts there are of use to a command with the same arguments.
func TestFolderVariable(t *testing.T) {
	t.Setenv(folderVariable, "somewhere")
	if d := (&Options{}).folder(); d == nil || d.Path("") != "somewhere" {
		t.Errorf("%v", d)
	}
	if d := (&Options{Survive: Survive{Off: true}}).folder(); d != nil {
		t.Errorf("a run of one life has a folder: %v", d)
	}
	rt := &Runtime{}
	before := rt.command()
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = append(slices.Clone(os.Args), "-more")
	if rt.command() == before {
		t.Error("a command with other arguments has the same number")
	}
}

// TestLivesWithoutReason has lives of a program of two runs end at random cuts. The end is the same.
func TestLivesWithoutReason(t *testing.T) {
	c := chain{tasks: 7, rounds: 100, ends: map[int]int{3: 10, 5: 75, 6: 99}}
	ended := 0 // lives
	for seed := 1; seed <= 2; seed++ {
		for _, nodes := range []int{1, 3} {
			t.Setenv(livesVariable, fmt.Sprint(seed))
			lives := make([]int, nodes)
			errs := runOn(nodes, Options{}, func(ctx context.Context, node int, rt *Runtime) error {
				lives[node]++
				for stage := range 2 {
					c := c
					c.name = fmt.Sprint(stage, " ")
					numbers, all := c.declare(rt, func(task, round int) error {
						busy(200_000)
						return nil
					})
					if err := rt.Run(ctx); err != nil {
						return err
					}
					if err := c.check(ctx, numbers, all); err != nil {
						return err
					}
				}
				return nil
			})
			for i, err := range errs {
				if err != nil {
					t.Errorf("seed %d, node %d of %d: %v", seed, i, nodes, err)
				}
				ended += lives[i] - 1
			}
		}
	}
	if ended == 0 {
		t.Error("no life has ended before its run")
	}
}
