package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// key is a cut.
func key(life, round uint64) lives.Key { return lives.Key{Life: life, Run: 1, Round: round} }
func of(run, round uint64) lives.Key   { return lives.Key{Life: 1, Run: run, Round: round} }

// In a folder that the nodes share, each finds all parts. In a folder of its own, each finds its own ones.
func TestSharedAndOwn(t *testing.T) {
	p := program{3, 7}
	top := t.TempDir()
	for what, dir := range map[string]func(node int) string{
		"shared": func(int) string { return filepath.Join(top, "deep", "shared") },
		"own":    func(i int) string { return filepath.Join(top, "own", string(rune('a'+i))) },
	} {
		var nodes []node
		for i := range p.nodes {
			f, err := Open(Directory(dir(i)), i, digest)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, node{p, i, f})
		}
		for _, k := range []lives.Key{key(1, 20), key(1, 40), key(1, 60)} {
			for _, n := range nodes {
				if err := n.save(k); err != nil {
					t.Fatal(err)
				}
			}
			for _, n := range nodes {
				if err := n.folder.Keep(k); err != nil {
					t.Fatal(err)
				}
			}
		}
		reports := make([]lives.Report, p.nodes)
		for i, n := range nodes {
			found, err := n.folder.Look()
			if want := map[string]int{"shared": 6, "own": 2}[what]; err != nil || len(found.Parts) != want || len(n.folder.parts) != want || len(found.Unusable) != 0 || found.Life != 1 {
				t.Errorf("%s: node %d finds %+v, %v, and remembers %v", what, i, found, err, n.folder.parts)
			}
			for _, p := range found.Parts {
				reports[i].Parts = append(reports[i].Parts, p.Held)
			}
		}
		plan := lives.Choose(reports, 1, 0)
		if plan.From != key(1, 60) || len(plan.Holders) != 3 {
			t.Errorf("%s: %+v", what, plan)
		}
		for _, h := range plan.Holders {
			records, err := nodes[h.Node].folder.Load(p.part(h.Owner, plan.From).Held)
			if err != nil || !reflect.DeepEqual(records, p.records(h.Owner, 60)) {
				t.Errorf("%s: %v: %v, %v", what, h, records, err)
			}
		}
		for _, n := range nodes {
			if err := n.folder.Close(true); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for i := range p.nodes {
			for _, name := range names(t, dir(i)) {
				if !strings.HasSuffix(name, lockEnding) {
					t.Errorf("%s: a run that has finished leaves %s", what, name)
				}
			}
		}
	}
}

// names are the files in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := Directory(dir).List()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A process finds the folder in use by another one that has its number, and not by others. The message says which process it is.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(Directory(dir), 2, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "node-2.part"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Open(Directory(dir), 2, digest)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "(process ") || !strings.Contains(err.Error(), filepath.Join(dir, "node-2.lock")) {
		t.Errorf("%v", err)
	}
	if !slices.Contains(names(t, dir), "node-2.part") {
		t.Error("a process that has no lock removes what another one writes")
	}
	other, err := Open(Directory(dir), 3, digest)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names(t, dir), "node-2.part") {
		t.Error("process 3 removes what process 2 writes")
	}
	if err := errors.Join(first.Close(false), other.Close(false)); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Directory(dir), 2, digest)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(names(t, dir), "node-2.part") {
		t.Error("what a former process has written in part is left")
	}
	if err := again.Close(false); err != nil {
		t.Fatal(err)
	}
}

// Cuts of another program are named, and stay, whatever this one does. Other files stay, too.
func TestOtherProgram(t *testing.T) {
	d := newMemory()
	p := program{1, 3}
	theirs, err := Open(d, 0, digest+1)
	if err != nil {
		t.Fatal(err)
	}
	if err := (node{p, 0, theirs}).save(key(1, 20)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", "life-9-run-1-round-60-node-2.cut", "life-000001-run-001-round-00000060-node--2.cut", "node-02.part"} {
		d.files[name] = d.files[nameOf(p.part(0, key(1, 20)).Held).String()]
	}
	d.files["node-7.part"] = d.files["notes.txt"]
	before := len(d.files)
	if err := theirs.Close(false); err != nil {
		t.Fatal(err)
	}
	f, err := Open(d, 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []lives.Key{key(2, 10), key(2, 20), key(2, 30), key(2, 40)} {
		if err := errors.Join(node{p, 0, f}.save(k), f.Keep(k)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := f.Look()
	if err != nil || len(found.Parts) != 2 || len(found.Unusable) != 1 || !errors.Is(found.Unusable[0], ErrOther) || found.Life != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := f.Close(true); err != nil {
		t.Fatal(err)
	}
	if d.files["node-7.part"] != nil || len(d.files) != before-1 {
		t.Errorf("%d files are left, want %d", len(d.files), before-1)
	}
	theirs, err = Open(d, 0, digest+1)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := whole(theirs); err != nil || !slices.Equal(keys, []lives.Key{key(1, 20)}) {
		t.Errorf("%v, %v", keys, err)
	}
}

// Keep keeps the last two cuts that it was called for, and what is newer than one of them.
func TestKeep(t *testing.T) {
	for _, c := range []struct {
		what              string
		saved, kept, want []lives.Key
	}{
		{"the first call", []lives.Key{key(1, 20), key(1, 40), key(1, 60)}, []lives.Key{key(1, 60)}, []lives.Key{key(1, 60), key(1, 40), key(1, 20)}},
		{"the second call", []lives.Key{key(1, 20), key(1, 40), key(1, 60)}, []lives.Key{key(1, 40), key(1, 60)}, []lives.Key{key(1, 60), key(1, 40)}},
		{"the same twice", []lives.Key{key(1, 20), key(1, 40), key(1, 60)}, []lives.Key{key(1, 40), key(1, 60), key(1, 60)}, []lives.Key{key(1, 60), key(1, 40)}},
		{"one that is not whole between two", []lives.Key{key(1, 20), key(1, 40), key(1, 60)}, []lives.Key{key(1, 20), key(1, 60)}, []lives.Key{key(1, 60), key(1, 40), key(1, 20)}},
		{"a later life, at the same round", []lives.Key{key(1, 20), key(1, 40), key(2, 40)}, []lives.Key{key(1, 40), key(2, 40)}, []lives.Key{key(2, 40), key(1, 40)}},
		{"a later life, at an earlier round", []lives.Key{key(1, 20), key(1, 60), key(2, 40), key(2, 50)}, []lives.Key{key(1, 60), key(2, 40)},
			[]lives.Key{key(1, 60), key(2, 50), key(2, 40)}},
		{"the last one of each run", []lives.Key{of(1, 20), of(1, 40), of(1, 60), of(2, 10), of(2, 20), of(2, 30), of(3, 10), of(3, 20)},
			[]lives.Key{of(1, 40), of(2, 10), of(2, 20), of(3, 10), of(3, 20)}, []lives.Key{of(3, 20), of(3, 10), of(2, 20), of(1, 40)}},
		{"a later life begins at the end of the first run", []lives.Key{of(1, 60), of(2, 20), of(2, 40), of(2, 60)}, []lives.Key{of(1, 60), of(2, 40), of(2, 60), of(1, 60)},
			[]lives.Key{of(2, 60), of(2, 40), of(1, 60)}},
		{"of runs that a later life has not come to", []lives.Key{of(1, 60), of(2, 20), {Life: 2, Run: 3, Round: 10}, {Life: 2, Run: 3, Round: 20}},
			[]lives.Key{{Life: 2, Run: 3, Round: 10}, {Life: 2, Run: 3, Round: 20}}, []lives.Key{{Life: 2, Run: 3, Round: 20}, {Life: 2, Run: 3, Round: 10}, of(2, 20), of(1, 60)}},
	} {
		d := newMemory()
		nodes, err := program{1, 3}.opens(d)
		if err != nil {
			t.Fatal(err)
		}
		f := nodes[0].folder
		for _, k := range c.saved {
			if err := nodes[0].save(k); err != nil {
				t.Fatal(err)
			}
		}
		for _, k := range c.kept {
			if err := f.Keep(k); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := whole(f); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.what, got, err, c.want)
		}
	}
}

// Parts of one cut come in the order of their owners, and the newest cut comes first.
func TestOrder(t *testing.T) {
	d := newMemory()
	p := program{12, 30}
	nodes, err := p.opens(d)
	if err != nil {
		t.Fatal(err)
	}
	var want []lives.Found
	for _, k := range []lives.Key{key(3, 70), key(1, 70), key(2, 60)} {
		for i, n := range nodes {
			if err := n.save(k); err != nil {
				t.Fatal(err)
			}
			want = append(want, p.part(i, k))
		}
	}
	if found, err := nodes[5].folder.Look(); err != nil || !slices.Equal(found.Parts, want) || found.Life != 3 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A file that is damaged after it was found is named then, and saving it again makes it good. Another node may remove a file at any time.
func TestDamagedLater(t *testing.T) {
	d := newMemory()
	p := program{1, 3}
	nodes, err := p.opens(d)
	if err != nil {
		t.Fatal(err)
	}
	n, f, held := nodes[0], nodes[0].folder, p.part(0, key(1, 20)).Held
	if err := n.save(held.Key); err != nil {
		t.Fatal(err)
	}
	wrong := held
	wrong.Tasks++
	if records, err := f.Load(wrong); !errors.Is(err, ErrDamaged) || records != nil {
		t.Errorf("a part with a task more: %v, %v", records, err)
	}
	d.files[nameOf(held).String()].Bytes()[30]++
	if _, err := f.Load(held); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), d.Path(nameOf(held).String())) {
		t.Errorf("%v", err)
	}
	if found, err := f.Look(); err != nil || len(found.Parts) != 0 || len(found.Unusable) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := n.save(held.Key); err != nil {
		t.Fatal(err)
	}
	if found, err := f.Look(); err != nil || len(found.Parts) != 1 || len(found.Unusable) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	again := nodes[0].folder
	delete(d.files, nameOf(held).String())
	if found, err := again.Look(); err != nil || !reflect.DeepEqual(found, Found{}) {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := f.Load(held); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is removed: %v", err)
	}
}

// A file that cannot be read is as good as damaged. Another node may remove a file while this one looks, and save it again.
func TestUnreadable(t *testing.T) {
	bad := errors.New("bad disk")
	for _, c := range []struct {
		err             error
		unusable, later int // how many files cannot be used, and how many parts are there when the disk is good again
	}{{bad, 1, 1}, {fs.ErrNotExist, 0, 2}} {
		d, older, _, _ := twoCuts(t)
		opened := 0
		d.fail = func(what string) error {
			if what == "open" {
				if opened++; opened != 2 { // the file of the newer cut, each time
					return c.err
				}
			}
			return nil
		}
		f, err := Open(d, 0, digest)
		if err != nil {
			t.Fatal(err)
		}
		found, err := f.Look()
		if err != nil || len(found.Parts) != 1 || found.Parts[0].Key != older || len(found.Unusable) != c.unusable {
			t.Errorf("%v: %+v, %v", c.err, found, err)
		}
		if c.unusable > 0 && (!errors.Is(found.Unusable[0], ErrDamaged) || !errors.Is(found.Unusable[0], bad)) {
			t.Errorf("%v", found.Unusable)
		}
		d.fail = nil
		if found, err := f.Look(); err != nil || len(found.Parts) != c.later {
			t.Errorf("%v: later it finds %+v, %v", c.err, found, err)
		}
	}
}

// Look reads a file once. It does not read what this process has saved.
func TestLookOnce(t *testing.T) {
	d, _, _, _ := twoCuts(t)
	opened := 0
	d.fail = func(what string) error {
		if what == "open" {
			opened++
		}
		return nil
	}
	f, err := Open(d, 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := (node{program{1, 3}, 0, f}).save(key(1, 60)); err != nil {
		t.Fatal(err)
	}
	if found, err := f.Look(); err != nil || len(found.Parts) != 3 || opened != 2 || d.reading != 0 {
		t.Errorf("%+v, %v, %d files were read, and %d are open", found, err, opened, d.reading)
	}
}

// Processors is the number of the newest part that has one and can be read.
func TestProcessors(t *testing.T) {
	d := newMemory()
	f, err := Open(d, 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	p := program{1, 3}
	for i, processors := range []int{2, 4, 0, 8} {
		part := p.part(0, key(1, uint64(20*(i+1))))
		part.Processors = processors
		if err := f.Save(part, p.records(0, part.Round)); err != nil {
			t.Fatal(err)
		}
	}
	unreadable := 0
	d.fail = func(what string) error {
		if unreadable--; what == "open" && unreadable > 0 {
			return errors.New("bad disk")
		}
		return nil
	}
	for n, want := range []int{8, 4, 4, 2, 0} {
		unreadable = n + 2 // it lists the names first
		if got := Processors(d); got != want || d.reading != 0 {
			t.Errorf("without the newest %d parts: %d processors, want %d, and %d files are open", n, got, want, d.reading)
		}
	}
}

// Each operation of Open and of Close fails once. The error is told, and the lock is free.
func TestErrorsUnlock(t *testing.T) {
	bad := errors.New("bad disk")
	for _, finished := range []bool{false, true} {
		for n, failed := 1, true; failed; n++ {
			d, _, _, file := twoCuts(t)
			d.files["node-0.part"], d.files["node-1.part"] = d.files[file], d.files[file]
			count := 0
			d.fail = func(what string) error {
				if what == "open" { // see TestUnreadable
					return nil
				}
				if count++; count == n {
					return bad
				}
				return nil
			}
			f, err := Open(d, 0, digest)
			if err == nil {
				err = f.Close(finished)
			}
			if failed = count >= n; errors.Is(err, bad) != failed || len(d.locked) > 0 {
				t.Errorf("operation %d fails: %v, and locked are %v", n, err, d.locked)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var path *fs.PathError
	if _, err := Open(Directory(dir), 0, digest); !errors.As(err, &path) || path.Op != "mkdir" {
		t.Errorf("a file is opened as a folder: %v", err)
	}
}

// Save panics when it is told to write a part that no run has.
func TestSavePanics(t *testing.T) {
	d := newMemory()
	f, err := Open(d, 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil || len(d.files) > 0 {
			t.Error("a part is saved without its records")
		}
	}()
	_ = f.Save(program{1, 3}.part(0, key(1, 20)), nil)
}
