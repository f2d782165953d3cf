package folder

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

const digest = 0x0123456789abcdef

// program has some tasks on some nodes. The task and the round alone say what the task has written.
type program struct{ nodes, tasks int }

// records are what a node adds to the cut after a round.
func (p program) records(owner int, round uint64) (all []lives.Record) {
	for task := owner; task < p.tasks; task += p.nodes {
		all = append(all, record(task, round))
	}
	return all
}

func record(task int, round uint64) lives.Record {
	r := lives.Record{Task: task, Rounds: round}
	switch task % 3 {
	case 0:
		r.Contents = []lives.Content{{Resource: task, Bytes: fmt.Appendf(nil, "task %d has written this in round %d", task, round)}}
	case 1:
		r.Contents = []lives.Content{{Resource: task, Bytes: fmt.Appendf(nil, "%d", round)}, {Resource: 100 + task, Bytes: []byte{byte(round)}}}
	default:
		r.Rounds, r.Ended = min(round, 3), true
	}
	return r
}

// part is what a node has in a cut.
func (p program) part(owner int, k lives.Key) lives.Found {
	return lives.Found{Held: lives.Held{Key: k, Owner: owner, Tasks: len(p.records(owner, k.Round)), Total: p.tasks}}
}

// node is a node of the program with the folder.
type node struct {
	program
	me     int
	folder *Folder
}

func (n node) save(k lives.Key) error {
	return n.folder.Save(n.part(n.me, k), n.records(n.me, k.Round))
}

// opens opens a disk as all nodes.
func (p program) opens(d *memory) (all []node, err error) {
	for i := range p.nodes {
		f, err := Open(d, i, digest)
		if err != nil {
			return nil, err
		}
		all = append(all, node{p, i, f})
	}
	return all, nil
}

// whole are the cuts in a folder that have the records of all tasks, the newest first. It loads all parts, and compares them.
func whole(f *Folder) (keys []lives.Key, err error) {
	found, err := f.Look()
	if err != nil {
		return nil, err
	}
	got := make(map[lives.Key]int)
	for _, p := range found.Parts {
		records, err := f.Load(p.Held)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if want := record(r.Task, p.Round); !reflect.DeepEqual(r, want) {
				return nil, fmt.Errorf("%v: %v, want %v", p, r, want)
			}
		}
		if len(records) != p.Tasks {
			return nil, fmt.Errorf("%v has %d records", p, len(records))
		}
		if got[p.Key] += p.Tasks; got[p.Key] == p.Total {
			keys = append(keys, p.Key)
		}
	}
	return keys, nil
}

// live has the nodes make cuts after some rounds, and begin from the newest cut that is there. Turns say which node does the next
// operation.
func (p program) live(d *memory, rounds []uint64, turns *rand.Rand, finished bool) error {
	nodes, err := p.opens(d)
	if err != nil {
		return err
	}
	from, err := whole(nodes[0].folder)
	if err != nil {
		return err
	}
	found, err := nodes[0].folder.Look()
	if err != nil {
		return err
	}
	if len(from) > 0 {
		from, rounds = from[:1], append([]uint64{from[0].Round}, rounds...)
	}
	cuts := from
	for _, round := range rounds {
		cuts = append(cuts, lives.Key{Life: found.Life + 1, Run: 1, Round: round})
	}
	w := &world{disk: d, cuts: cuts, from: len(from), nodes: p.nodes, finished: finished, saved: make([]int, len(cuts))}
	return w.plays(nodes, turns)
}

// world is a life of some nodes that share a disk.
type world struct {
	disk     *memory
	cuts     []lives.Key
	from     int // how many of the cuts are on the disk
	nodes    int
	finished bool
	saved    []int // by cut: how many nodes have saved it
	ready    int   // nodes that have made all cuts
}

// plays has the nodes go on in turns, until all have ended or one has failed.
func (w *world) plays(nodes []node, turns *rand.Rand) error {
	next := make(map[int]func() (error, bool))
	var pauses []func()
	turn := 0
	w.disk.before = func() { pauses[turn]() }
	defer func() { w.disk.before = nil }()
	for _, n := range nodes {
		goes, stop := iter.Pull(func(yield func(error) bool) {
			pauses = append(pauses, func() { yield(nil) })
			yield(nil)
			yield(w.goes(n, pauses[n.me]))
		})
		defer stop()
		_, _ = goes() // it has its pause now
		next[n.me] = goes
	}
	for live := slices.Sorted(maps.Keys(next)); len(live) > 0; {
		i := turns.IntN(len(live))
		turn = live[i]
		err, more := next[turn]()
		if err != nil {
			return err
		}
		if !more {
			live = slices.Delete(live, i, i+1)
		}
	}
	return nil
}

// goes is what a node does. It calls Keep when all have saved a cut, and closes the folder when all have made all cuts.
func (w *world) goes(n node, pause func()) error {
	for i, k := range w.cuts {
		if i >= w.from {
			if err := n.save(k); err != nil {
				return err
			}
			for w.saved[i]++; w.saved[i] < w.nodes; {
				pause()
			}
		}
		if i >= len(w.disk.kept) {
			w.disk.kept = append(w.disk.kept, k)
		}
		if err := n.folder.Keep(k); err != nil {
			return err
		}
	}
	for w.ready++; w.ready < w.nodes; {
		pause()
	}
	w.disk.over = w.finished
	return n.folder.Close(w.finished)
}

// Whenever the machine fails, and whatever it had not synced, the last two cuts are there for which Keep was called, and have the right
// contents. The run can go on from each state, also if it fails once more.
func TestCrashAnywhere(t *testing.T) {
	rings.Computes(t)
	for seed := range rings.Of[uint64](2, 3, 40) {
		program{1, 3}.crashes(t, seed)
		program{2, 5}.crashes(t, seed)
	}
}

// crashes plays a run of three cuts, all its crashes, and for each cut that may be the newest one then, a run from there with all its
// crashes. With an odd seed the first run finishes.
func (p program) crashes(t *testing.T, seed uint64) {
	t.Helper()
	turns := rand.New(rand.NewPCG(seed, 0))
	d := newMemory()
	if err := p.live(d, []uint64{20, 40, 60}, turns, seed%2 > 0); err != nil {
		t.Fatalf("%v, seed %d: %v", p, seed, err)
	}
	states, newest := 0, make(map[lives.Key]bool)
	for s := range d.left() {
		states++
		k, err := p.finds(s)
		if err != nil {
			t.Fatalf("%v, seed %d: state %d after Keep of %v: %v", p, seed, states, s.kept, err)
		}
		if newest[k] {
			continue
		}
		newest[k] = true
		again := s.disk()
		if err := p.live(again, []uint64{k.Round + 20, k.Round + 40}, turns, false); err != nil {
			t.Fatalf("%v, seed %d: life 2 from %v: %v", p, seed, k, err)
		}
		for s := range s.then(again).left() {
			states++
			if _, err := p.finds(s); err != nil {
				t.Fatalf("%v, seed %d: life 2 from %v, after Keep of %v: %v", p, seed, k, s.kept, err)
			}
		}
	}
	if len(newest) != 4 {
		t.Errorf("%v, seed %d: %d cuts were the newest one", p, seed, len(newest))
	}
	t.Logf("%v, seed %d: %d operations, %d states of the disk", p, seed, len(d.done), states)
}

// finds looks for the cuts that must be there, and returns the newest one.
func (p program) finds(s state) (newest lives.Key, err error) {
	f, err := Open(s.disk(), 0, digest)
	if err != nil {
		return newest, err
	}
	keys, err := whole(f)
	if err != nil {
		return newest, err
	}
	for _, k := range s.kept[max(0, len(s.kept)-2):] {
		if !s.over && !slices.Contains(keys, k) {
			return newest, fmt.Errorf("%v are whole, without %v", keys, k)
		}
	}
	if len(keys) > 0 {
		newest = keys[0]
	}
	return newest, nil
}

// then is a disk with what happened to it before the state, too: files that are there at the beginning.
func (s state) then(d *memory) *memory {
	before := &memory{kept: d.kept, over: d.over}
	for name, b := range s.files {
		n := -1 - len(before.done) // no file of d has this number
		before.done = append(before.done,
			operation{what: "create", file: n, name: name}, operation{what: "write", file: n, bytes: b}, operation{what: "sync", file: n}, operation{what: "names"})
	}
	before.done = append(before.done, d.done...)
	return before
}

// Each operation fails once, as on a full disk. The cuts before are still there, and the next ones are made.
func TestFailAnywhere(t *testing.T) {
	rings.Computes(t)
	p := program{1, 3}
	failed := make(map[string]int)
	for n := 0; ; n++ {
		d := newMemory()
		nodes, err := p.opens(d)
		if err != nil {
			t.Fatal(err)
		}
		f := nodes[0].folder
		count, what := 0, ""
		d.fail = func(o string) error {
			if count++; count == n+1 {
				what = o
				return syscall.ENOSPC
			}
			return nil
		}
		var kept []lives.Key
		for round := uint64(20); round <= 80; round += 20 {
			k := lives.Key{Life: 1, Run: 1, Round: round}
			before := what
			err := nodes[0].save(k)
			if err == nil {
				kept = append(kept, k)
				err = f.Keep(k)
			}
			if before == "" && what != "" {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("operation %d, %s, fails, and says %v", n, what, err)
				}
			} else if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			fails := d.fail
			d.fail = nil
			keys, err := whole(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range kept[max(0, len(kept)-2):] {
				if !slices.Contains(keys, k) {
					t.Fatalf("operation %d, %s, has failed: %v are whole, without %v", n, what, keys, k)
				}
			}
			if d.files[f.part] != nil {
				t.Fatalf("operation %d, %s, has failed, and its file is left", n, what)
			}
			d.fail = fails
		}
		if what == "" {
			break
		}
		failed[what]++
	}
	for _, what := range []string{"create", "write", "sync", "close", "rename", "names", "list", "remove"} {
		if failed[what] == 0 {
			t.Errorf("%s has not failed", what)
		}
	}
}
