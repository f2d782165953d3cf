package stencil

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// life declares a small grid.
func life(t testing.TB, o Options, sweeps int) (*Grid, *orwl.Runtime, error) {
	t.Helper()
	return lifeOn(t, folder(o.Checkpoint.Dir), silent, o, sweeps)
}

// lifeOn declares one whose checkpoints go to a disk, and what they say to a log.
func lifeOn(t testing.TB, d disk, log *slog.Logger, o Options, sweeps int) (*Grid, *orwl.Runtime, error) {
	t.Helper()
	rt, err := orwl.New(orwl.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	o.Size = Size{4, 5}
	g := New(rt, o)
	g.disk = d
	u := NewField(g, "u", FieldOptions[byte]{Halo: Around(1), Initial: func(at []int) byte { return byte(mixed(1, at...)) }})
	return g, rt, g.Sweep(sweeps, func(b *Block) {
		for r := range b.Rows() {
			for i := range r.Len() {
				u.New(r)[i] = 3*u.Old(r, -1, 0)[i] + u.Old(r, 1, 0)[i] ^ u.Old(r, 0, 1)[i] + byte(b.Sweep())
			}
		}
	})
}

// live runs it.
func live(t testing.TB, o Options, sweeps int) *Grid {
	t.Helper()
	g, rt, err := life(t, o, sweeps)
	if err == nil {
		err = rt.Run(t.Context())
	}
	if err == nil {
		err = g.Verify(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A newest checkpoint with any wrong byte, or cut anywhere, is not continued. The one before is, and
// the log names the file.
func TestDamage(t *testing.T) {
	o := Options{Blocks: Size{2, 1}, Checkpoint: Checkpoint{Dir: t.TempDir(), Every: 3}}
	live(t, o, 6)
	o.Resume = o.Checkpoint.Dir
	path := filepath.Join(o.Resume, entry{grid: "grid", sweeps: 6, of: 1}.String())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	continues := func(what string, at int, file []byte, want int) {
		t.Helper()
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		g, _, err := lifeOn(t, folder(""), slog.New(slog.NewTextHandler(&said, nil)), o, 9)
		if err != nil || g.start != want {
			t.Errorf("%s %d: continues after %d sweeps, want %d: %v", what, at, g.start, want, err)
		}
		if named := strings.Contains(said.String(), path); named != (want == 3) {
			t.Errorf("%s %d: the log says %q", what, at, said.String())
		}
	}
	continues("all of", len(good), good, 6)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		continues("flipped bit in byte", i, bad, 3)
		continues("cut at byte", i, good[:i], 3)
	}
	continues("one byte more than", len(good), append(good, 0), 3)

	// The run goes on from the older one, and leaves no damaged one behind.
	if got := live(t, o, 6).Checkpoints(); got.Resumed != 3 || got.Newest != 6 {
		t.Errorf("%+v", got)
	}
	if g, _, err := life(t, o, 9); err != nil || g.start != 6 {
		t.Errorf("continues after %d sweeps: %v", g.start, err)
	}
}

// A grid that can continue no checkpoint names the files.
func TestNoCheckpoint(t *testing.T) {
	o := Options{Checkpoint: Checkpoint{Dir: t.TempDir(), Every: 3}}
	live(t, o, 6)
	if _, _, err := life(t, o, 6); !errors.Is(err, ErrOptions) {
		t.Errorf("a new run in the directory of another one: %v", err)
	}
	o.Resume = o.Checkpoint.Dir
	if _, _, err := life(t, o, 5); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("a checkpoint that has more sweeps than the run: %v", err)
	}
	rt, err := orwl.New(orwl.Options{Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{5, 4}, Resume: o.Resume})
	NewField(g, "u", FieldOptions[byte]{})
	if err := g.Sweep(9, func(*Block) {}); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("a grid of another size: %v", err)
	}
	older, newer := entry{grid: "grid", sweeps: 3, of: 1}, entry{grid: "grid", sweeps: 6, of: 1}
	if err := os.Truncate(filepath.Join(o.Resume, older.String()), 30); err != nil {
		t.Fatal(err)
	}
	other := newer
	other.of = 2 // the second node wrote elsewhere
	if err := os.Rename(filepath.Join(o.Resume, newer.String()), filepath.Join(o.Resume, other.String())); err != nil {
		t.Fatal(err)
	}
	_, _, err = life(t, o, 9)
	other.writer = 1
	if !errors.Is(err, ErrNoCheckpoint) || !strings.Contains(err.Error(), older.String()) || !strings.Contains(err.Error(), other.String()) {
		t.Errorf("%v names neither %s nor %s", err, older, other)
	}
	o.Resume, o.Checkpoint = t.TempDir(), Checkpoint{}
	if g := live(t, o, 4); g.start != 0 {
		t.Errorf("an empty directory is continued after %d sweeps", g.start)
	}
}

// A disk that cannot follow makes checkpoints rarer, on all nodes the same ones.
func TestLateCheckpoints(t *testing.T) {
	g, _, err := life(t, Options{Checkpoint: Checkpoint{Dir: t.TempDir(), Every: 1}}, 100)
	if err != nil {
		t.Fatal(err)
	}
	taken := func(strides int) (sweeps []int) {
		k := g.newKeeper()
		k.stride = strides
		for n := 1; n <= 20; n++ {
			if s := k.begin(n, n, n == 20); !s.late {
				sweeps = append(sweeps, n)
				if s.file == nil {
					t.Fatal(s.err)
				}
			}
		}
		k.end()
		return sweeps
	}
	for stride, want := range map[int][]int{1: {1, 2, 20}, 4: {4, 8, 20}} { // none is completed
		if got := taken(stride); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != 20 {
			t.Errorf("stride %d: takes %v, want %v", stride, got, want)
		}
	}
}

func FuzzContents(f *testing.F) {
	g, _, err := life(f, Options{Blocks: Size{2, 1}}, 1)
	if err != nil {
		f.Fatal(err)
	}
	c := g.newContents(entry{grid: "grid", of: 1}, g.tiles)
	f.Add(append(make([]byte, c.bytes()), c.encode()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readContents(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i := range c.Parts {
			_ = c.verify(bytes.NewReader(b), &c.Parts[i]) // panics or not
		}
	})
}

// A user may print what became of the checkpoints.
func TestCheckpointsInWords(t *testing.T) {
	for want, c := range map[string]Checkpoints{
		"0 checkpoints": {},
		"7 checkpoints, the newest after 120 sweeps, 50 sweeps continued":                       {Saved: 7, Newest: 120, Resumed: 50},
		"1 checkpoints, the newest after 3 sweeps, 2 left out, 1 given up: file already exists": {Saved: 1, Newest: 3, Late: 2, Failed: 1, Err: os.ErrExist},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
