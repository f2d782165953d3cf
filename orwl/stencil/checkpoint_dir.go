package stencil

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// entry is the name of a file of a checkpoint. The first of two nodes that have saved the grid
// after 50 sweeps writes grid-00000050-0-of-2.checkpoint.
type entry struct {
	grid       string
	sweeps     int
	writer, of int
	partial    bool // it is not whole yet, and has another ending
}

const (
	ending        = ".checkpoint"
	partialEnding = ".part"
)

func (e entry) prefix() string { return url.PathEscape(e.grid) + "-" }

func (e entry) String() string {
	name := fmt.Sprintf("%s%08d-%d-of-%d%s", e.prefix(), e.sweeps, e.writer, e.of, ending)
	if e.partial {
		name += partialEnding
	}
	return name
}

// part is the file while it is written.
func (e entry) part() string {
	e.partial = true
	return e.String()
}

var numbers = regexp.MustCompile(`^(\d+)-(\d+)-of-(\d+)\.checkpoint(\.part)?$`)

// entries are the files of a grid in a directory, also those that are not whole. The newest ones
// come first.
func entries(d disk, grid string) (all []entry, err error) {
	names, err := d.list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e := entry{grid: grid}
		rest, ok := strings.CutPrefix(name, e.prefix())
		m := numbers.FindStringSubmatch(rest)
		if !ok || m == nil {
			continue
		}
		for i, to := range []*int{&e.sweeps, &e.writer, &e.of} {
			*to, _ = strconv.Atoi(m[i+1])
		}
		e.partial = m[4] != ""
		if name == e.String() { // so no number was too large
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(-cmp.Compare(a.sweeps, b.sweeps), cmp.Compare(a.of, b.of), cmp.Compare(a.writer, b.writer))
	})
	return all, nil
}

// set is the files of one checkpoint that have their names.
type set []entry

// sets are the checkpoints of a grid, the newest first. Some of their files may be missing.
func sets(all []entry) (result []set) {
	all = slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.partial })
	for i, e := range all {
		if i == 0 || all[i-1].sweeps != e.sweeps || all[i-1].of != e.of {
			result = append(result, nil)
		}
		s := &result[len(result)-1]
		*s = append(*s, e)
	}
	return result
}

// missing are the names of files that other nodes have not written.
func (s set) missing() (names []string) {
	for w := range s[0].of {
		e := s[0]
		if e.writer = w; !slices.Contains(s, e) {
			names = append(names, e.String())
		}
	}
	return names
}

// keptCheckpoints is how many checkpoints stay.
const keptCheckpoints = 2

// removeOld removes what is older than the newest whole checkpoint, and not the whole one before
// it. A node completes its files in order, so an older one that is not whole stays so. Each node
// calls it: the last one that completes a checkpoint finds it whole. The names of what is kept
// must be permanent first.
func (k *keeper) removeOld() error {
	all, err := entries(k.disk, k.grid.o.Name)
	if err != nil {
		return err
	}
	var whole []int
	for _, s := range sets(all) {
		if len(s.missing()) == 0 && !slices.Contains(whole, s[0].sweeps) {
			whole = append(whole, s[0].sweeps)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	kept := whole[:min(len(whole), keptCheckpoints)]
	if err := k.disk.sync(); err != nil {
		return err
	}
	return k.remove(all, func(e entry) bool { return e.sweeps < kept[0] && !slices.Contains(kept, e.sweeps) })
}

// removeNewer removes what is newer than the beginning of the run: files that are damaged, or
// belong to a checkpoint that was not completed. Other nodes may have written newer ones by now.
// So each node removes its own. The first one also removes the files of runs on another number
// of nodes.
func (k *keeper) removeNewer() error {
	all, err := entries(k.disk, k.grid.o.Name)
	if err != nil {
		return err
	}
	return k.remove(all, func(e entry) bool {
		mine := k.writer == 0
		if e.of == k.of {
			mine = k.writer == e.writer && !e.partial // a tile may be writing that
		}
		return mine && e.sweeps > k.grid.start
	})
}

func (k *keeper) remove(all []entry, which func(entry) bool) (errs error) {
	for _, e := range all {
		if !which(e) {
			continue
		}
		if err := k.disk.remove(e.String()); !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// sameDir says that two names are of one directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX != nil || errY != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(x, y)
}
