package stencil

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/orwl/go-orwl/internal/rings"
)

// recorder is a disk that notes what is done to it.
type recorder struct {
	disk
	saved  func() int // the newest checkpoint that a user may rely on
	before func()     // each operation; may be nil

	mu    sync.Mutex
	done  []operation
	files int
}

// operation is what was done to a directory, or to a file in it.
type operation struct {
	what     string // create, write, sync; rename, remove, names
	file     int    // which one, in the order of their creation
	name, to string
	at       int64
	bytes    []byte
	saved    int // before
}

// do does an operation and notes it.
func (r *recorder) do(o operation, body func() error) error {
	if r.before != nil {
		r.before()
	}
	if o.what != "create" { // then the keeper is locked
		o.saved = r.saved()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.what == "create" {
		o.file = r.files
	}
	err := body()
	if err == nil {
		r.done = append(r.done, o)
	}
	return err
}

// list only takes its turn.
func (r *recorder) list() ([]string, error) {
	if r.before != nil {
		r.before()
	}
	return r.disk.list()
}

// all are the operations, and the end.
func (r *recorder) all() []operation {
	return append(slices.Clip(r.done), operation{what: "end", saved: r.saved()})
}

func (r *recorder) create(name string) (f diskFile, err error) {
	err = r.do(operation{what: "create", name: name}, func() error {
		inner, err := r.disk.create(name)
		f = recordedFile{inner, r, r.files}
		r.files++
		return err
	})
	return f, err
}

func (r *recorder) rename(from, to string) error {
	return r.do(operation{what: "rename", name: from, to: to}, func() error { return r.disk.rename(from, to) })
}

func (r *recorder) remove(name string) error {
	return r.do(operation{what: "remove", name: name}, func() error { return r.disk.remove(name) })
}

func (r *recorder) sync() error { return r.do(operation{what: "names"}, r.disk.sync) }

type recordedFile struct {
	diskFile
	r      *recorder
	number int
}

func (f recordedFile) WriteAt(b []byte, at int64) (n int, err error) {
	o := operation{what: "write", file: f.number, at: at, bytes: bytes.Clone(b)}
	err = f.r.do(o, func() error { n, err = f.diskFile.WriteAt(b, at); return err })
	return n, err
}

func (f recordedFile) Sync() error {
	return f.r.do(operation{what: "sync", file: f.number}, f.diskFile.Sync)
}

// left yields each directory that a machine may find after it failed at some moment of the
// recorded operations, and the checkpoints that a user may rely on then, the newest last.
//
// A change that was not synced may be there or not. Any of the names that have changed since the last
// sync of names may be the new ones. The bytes that were written to a file since its last sync are all
// there, or none of them, or the file is as long and has zeros.
func left(done []operation) iter.Seq2[map[string][]byte, []int] {
	type file struct{ synced, written []byte }
	return func(yield func(map[string][]byte, []int) bool) {
		files := make(map[int]*file)
		now, synced := make(map[string]int), make(map[string]int) // names of files
		var pending []func(names map[string]int)
		var saved []int
		seen := make(map[string]bool)
		states := func() bool {
			for some := range 1 << len(pending) {
				names := maps.Clone(synced)
				for i, change := range pending {
					if some>>i&1 > 0 {
						change(names)
					}
				}
				for variant := range 3 {
					found := make(map[string][]byte)
					for name, number := range names {
						f := files[number]
						found[name] = [...][]byte{f.synced, append(bytes.Clone(f.synced), make([]byte, len(f.written)-len(f.synced))...), f.written}[variant]
					}
					key := fmt.Sprint(saved, found)
					if !seen[key] && !yield(found, saved) {
						return false
					}
					seen[key] = true
				}
			}
			return true
		}
		renames := func(change func(names map[string]int)) {
			change(now)
			pending = append(pending, change)
		}
		for _, o := range done {
			if n := len(saved); o.saved > 0 && (n == 0 || saved[n-1] < o.saved) {
				saved = append(saved, o.saved)
			}
			if !states() {
				return
			}
			switch o.what {
			case "create":
				files[o.file] = new(file)
				renames(func(names map[string]int) { names[o.name] = o.file })
			case "write":
				f := files[o.file]
				f.written = append(f.written, make([]byte, max(0, int(o.at)+len(o.bytes)-len(f.written)))...)
				copy(f.written[o.at:], o.bytes)
			case "sync":
				files[o.file].synced = bytes.Clone(files[o.file].written)
			case "rename":
				number := now[o.name]
				renames(func(names map[string]int) {
					delete(names, o.name)
					names[o.to] = number
				})
			case "remove":
				renames(func(names map[string]int) { delete(names, o.name) })
			case "names":
				pending, synced = nil, maps.Clone(now)
			}
		}
	}
}

// whole are the checkpoints in the directory that g can continue, the newest first.
func whole(t *testing.T, g *Grid, dir string) (sweeps []int) {
	t.Helper()
	all, err := entries(folder(dir), g.o.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets(all) {
		if _, err := g.open(dir, s); err == nil {
			sweeps = append(sweeps, s[0].sweeps)
		}
	}
	return sweeps
}

// survives checks that a grid finds the checkpoints that it may rely on, whenever the machine fails.
// It calls body with one directory for each checkpoint that may be the newest.
func survives(t *testing.T, g *Grid, done []operation, body func(dir string, newest int)) {
	t.Helper()
	dir := t.TempDir()
	states, newest := 0, make(map[int]bool)
	for files, saved := range left(done) {
		states++
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got := whole(t, g, dir)
		last, kept := 0, min(2, len(saved))
		if len(saved) > 0 {
			last = saved[len(saved)-1]
		}
		if len(got) < kept || kept > 0 && got[0] < last {
			t.Fatalf("%d of %d: %v are whole, and %v were saved: %v", states, len(done), got, saved, slices.Sorted(maps.Keys(files)))
		}
		if len(got) > 0 && !newest[got[0]] {
			newest[got[0]] = true
			body(dir, got[0])
		}
		for name := range files {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d operations, %d states of the disk", len(done), states)
}

// Whenever the machine fails, and whatever it had not synced, the run goes on from the last
// checkpoint that it has reported, and has the right result. The two last ones are there.
func TestCrashAnywhere(t *testing.T) {
	dir := t.TempDir()
	r := &recorder{disk: folder(dir)}
	o := Options{Blocks: Size{2, 1}, Checkpoint: Checkpoint{Dir: dir, Every: 2}, Resume: dir}
	for leg := range 2 { // the second run goes on from the first one's last checkpoint
		g, rt, err := lifeOn(t, r, silent, o, 6+leg*4)
		if err != nil {
			t.Fatal(err)
		}
		r.saved = func() int { return max(g.Checkpoints().Newest, g.start) }
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := g.Checkpoints(); c.Err != nil || c.Newest != 6+leg*4 || c.Resumed != leg*6 {
			t.Fatalf("%+v", c)
		}
		o.Blocks = Size{1, 3}
	}
	g, _, err := life(t, Options{}, 20)
	if err != nil {
		t.Fatal(err)
	}
	resumed := 0
	survives(t, g, r.all(), func(dir string, newest int) {
		if c := live(t, Options{Blocks: Size{1, 2}, Resume: dir}, 12).Checkpoints(); c.Resumed != newest {
			t.Errorf("it goes on after %d sweeps, want %d", c.Resumed, newest)
		}
		resumed++
	})
	if resumed < 3 {
		t.Errorf("%d checkpoints were the newest one at some moment", resumed)
	}
}

// The same with two nodes that write their files in any order. With seeds 20 and 27 one of them lists
// a name that the other has not synced, and removes older files. Users play one seed.
func TestCrashOfTwoWriters(t *testing.T) {
	rings.Computes(t)
	const checkpoints = 4
	for _, seed := range rings.Of([]uint64{20}, []uint64{1, 2, 20, 27}, []uint64{1, 2, 20, 27}) {
		dir := t.TempDir()
		g, _, err := life(t, Options{Blocks: Size{2, 1}, Checkpoint: Checkpoint{Dir: dir, Every: 1}}, 20)
		if err != nil {
			t.Fatal(err)
		}
		var keepers [2]*keeper
		var next [2]func() (struct{}, bool)
		r := &recorder{disk: folder(dir), saved: func() int { return min(keepers[0].counts.Newest, keepers[1].counts.Newest) }}
		var pauses [2]func(struct{}) bool
		turn := 0
		r.before = func() { pauses[turn](struct{}{}) }
		for i := range keepers {
			k := g.newKeeper()
			k.disk, k.writer, k.of, k.tiles = r, i, 2, g.tiles[i:i+1]
			keepers[i] = k
			var stop func()
			next[i], stop = iter.Pull(func(yield func(struct{}) bool) {
				pauses[i] = yield
				for n := 1; n <= checkpoints; n++ {
					k.saves(t, n, n == checkpoints)
				}
			})
			defer stop()
		}
		turns := rand.New(rand.NewPCG(seed, 0))
		for live := []int{0, 1}; len(live) > 0; {
			i := turns.IntN(len(live))
			turn = live[i]
			if _, more := next[turn](); !more {
				live = slices.Delete(live, i, i+1)
			}
		}
		if r.saved() != checkpoints {
			t.Fatalf("seed %d: %+v %+v", seed, keepers[0].counts, keepers[1].counts)
		}
		survives(t, g, r.all(), func(string, int) {})
	}
}

// saves saves a checkpoint with random cells.
func (k *keeper) saves(t *testing.T, n int, last bool) {
	s := k.begin(n, n, last)
	if s == nil || s.err != nil || s.late {
		t.Errorf("checkpoint %d is left out: %+v", n, s)
		return
	}
	part := &s.contents.Parts[0]
	cells := make([]byte, s.contents.bytes())
	for i := range cells {
		cells[i] = byte(mixed(uint64(n), i))
	}
	part.Sum = xxh3.Hash(cells)
	if _, err := s.file.WriteAt(cells, part.at); err != nil {
		t.Error(err)
	}
	k.complete(s)
}
