package folder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A cut that a full disk cannot take leaves the ones before. When there is room again, the next one is saved.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(Directory(dir), 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	n := node{program{1, 3}, 0, f}
	if err := errors.Join(n.save(key(1, 20)), f.Keep(key(1, 20))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, f.part)); err != nil {
		t.Fatal(err)
	}
	if err := n.save(key(1, 40)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk says %v", err)
	}
	if err := n.save(key(1, 60)); err != nil {
		t.Error(err)
	}
	if keys, err := whole(f); err != nil || !slices.Equal(keys, []lives.Key{key(1, 60), key(1, 20)}) {
		t.Errorf("%v, %v", keys, err)
	}
	if err := f.Close(true); err != nil {
		t.Error(err)
	}
}
