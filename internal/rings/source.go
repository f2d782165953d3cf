package rings

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Source tells Go's cache of results that the result of this test depends on the whole module. A
// test that starts the go command calls it, because the cache sees what the test looks at, and not
// what its children read.
func Source(t testing.TB) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for above := filepath.Dir(root); ; above = filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, "go.mod")); err == nil {
			root = above
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // it has gone meanwhile
			return nil
		case d.IsDir() && name != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		_, _ = os.Stat(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
