//go:build linux

package shm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func parse(t *testing.T, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		options Options
		field   string
	}{
		{Options{}, "Options.Topology"},
		{Options{Topology: topology.Flat(mostRanks + 1)}, "Options.Topology"},
		{Options{Topology: topology.Flat(1), Words: -1}, "Options.Words"},
		{Options{Topology: topology.Flat(1), Words: mostWords + 1}, "Options.Words"},
		{Options{Topology: topology.Flat(1), DynamicWords: -1}, "Options.DynamicWords"},
		{Options{Topology: topology.Flat(mostRanks), Words: mostWords}, "Options.Words"},
	} {
		if f, err := Create(c.options); err == nil {
			f.Close()
			t.Errorf("%+v is accepted", c.options)
		} else if !strings.Contains(err.Error(), c.field) {
			t.Errorf("%+v: %v, want an error that names %s", c.options, err, c.field)
		}
	}
}

func TestMismatch(t *testing.T) {
	made := Options{Topology: parse(t, "node:2 core:4"), Words: 100, DynamicWords: 1000}
	f, err := Create(made)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		field  string
		change func(o *Options)
	}{
		{"number of ranks", func(o *Options) { o.Topology = parse(t, "node:2 core:5") }},
		{"topology", func(o *Options) { o.Topology = parse(t, "node:4 core:2") }},
		{"Words", func(o *Options) { o.Words = 101 }},
		{"DynamicWords", func(o *Options) { o.DynamicWords = 999 }},
	} {
		options := made
		c.change(&options)
		_, err := Open(f.File(), options)
		var mismatch *MismatchError
		if !errors.Is(err, ErrMismatch) || !errors.As(err, &mismatch) || mismatch.Field != c.field {
			t.Errorf("Open with another %s: %v, want a MismatchError of it", c.field, err)
		}
	}
	for _, options := range []Options{made, {Topology: made.Topology}} {
		g, err := Open(f.File(), options)
		if err != nil {
			t.Fatalf("Open with the same options: %v", err)
		}
		defer g.Close()
		if g.layout() != f.layout() {
			t.Errorf("the layouts are %+v and %+v", g.layout(), f.layout())
		}
	}
	f.header.Version++
	if _, err := Open(f.File(), made); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "version") {
		t.Errorf("Open of another version: %v, want a MismatchError", err)
	}
}

// layout is the layout of a fabric, by its parts.
func (f *Fabric) layout() string {
	return fmt.Sprint(len(f.memory.bytes), len(f.claims), len(f.heap.log), len(f.world.Memory.(*pools).ranks[0].words))
}

func TestGarbage(t *testing.T) {
	options := Options{Topology: topology.Flat(2), Words: 512, DynamicWords: 512}
	f, err := Create(options)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	image, err := io.ReadAll(io.NewSectionReader(f.File(), 0, int64(len(f.memory.bytes))))
	if err != nil {
		t.Fatal(err)
	}
	bent := func(word int, value byte) []byte {
		b := append([]byte(nil), image...)
		b[8*word+4] ^= value
		return b
	}
	any := Options{Topology: options.Topology}
	for _, c := range []struct {
		name    string
		content []byte
		options Options
	}{
		{"empty", nil, options},
		{"short", image[:40], options},
		{"text", []byte(strings.Repeat("not a fabric\n", 1000)), options},
		{"no magic", bent(0, 1), options},
		{"cut off", image[:len(image)-1], options},
		{"a copy", image, options},
		{"too many words", bent(3, 255), any},
		{"too many dynamic words", bent(4, 255), any},
		{"a header and nothing else", image[:page], any},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if g, err := Open(file, c.options); err == nil {
			g.Close()
			t.Errorf("%s: Open succeeds", c.name)
		} else if !errors.Is(err, ErrNotAFabric) {
			t.Errorf("%s: %v, want ErrNotAFabric", c.name, err)
		}
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if _, err := Open(closed, options); !errors.Is(err, ErrNotAFabric) {
		t.Errorf("a closed file: %v, want ErrNotAFabric", err)
	}
}

// visitor is a process that opens the fabric by its path, as one that is no
// child would.
var visitor = role("visitor", func(a *actor) error {
	file, err := os.OpenFile(a.args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	f, err := Open(file, Options{Topology: a.Topology()})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := file.Close(); err != nil { // it was ours
		return err
	}
	d, err := f.Alloc(1)
	if err != nil {
		return err
	}
	w, err := f.Window(a.rank)
	if err != nil {
		return err
	}
	w.Put(0, d, 7)
	w.Flush(0)
	return nil
})

func TestOpenByPath(t *testing.T) {
	f := create(t, 2)
	d, w := alloc(t, f, 1), window(t, f, 0)
	guest := spawn(t, f, visitor, 1, f.Path())
	if v, err := w.Await(background, 0, d, rma.IsNot(0)); v != 7 || err != nil {
		t.Errorf("Await: %d, %v; want 7", v, err)
	}
	guest.end()
}
