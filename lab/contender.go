package lab

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/lab/printed"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Lock is a lock that a plan may name: a row of the table of package locks, or a lock of package
// printed.
type Lock printed.Lock

// Locks are all locks with a name of their own.
func Locks() (all []Lock) {
	for _, s := range locks.All() {
		all = append(all, rowOf(s))
	}
	for _, l := range printed.All() {
		all = append(all, Lock(l))
	}
	return all
}

// rowOf is a row of the table.
func rowOf(s locks.Spec) Lock {
	return Lock{s, func(f rma.Fabric, o locks.Options) (func(w rma.Window) locks.Mutex, error) {
		l, err := s.New(f, o)
		if err != nil {
			return nil, err
		}
		return l.At, nil
	}}
}

// Contender is a lock that a benchmark plays: one of Locks, or any other lock.
type Contender struct {
	Name string
	Kind locks.Kind
	// Words says how many words a lock takes at each rank, at most. The locks of a benchmark
	// have to fit into the fabric.
	Words func(t *topology.Tree) int
	// New allocates a lock that lives at home. It returns a function that makes a rank's side.
	New func(f rma.Fabric, home rma.Rank) (func(w rma.Window) locks.Mutex, error)
}

// Of is a lock with the options that it has. Other options are left out, so that one set of
// options serves a list of locks.
func Of(s Lock, o locks.Options) Contender {
	o = Heeded(s.Spec, o)
	const slack = 32 // lines are rounded up, and options may take more than their defaults
	return Contender{
		Name: s.Name, Kind: s.Kind,
		Words: func(t *topology.Tree) int {
			w := s.WordsOn(t)
			return w.Home + w.Rank + slack
		},
		New: func(f rma.Fabric, home rma.Rank) (func(w rma.Window) locks.Mutex, error) {
			o := o
			o.Home = home
			return s.New(f, o)
		},
	}
}

// Heeded are the options that a lock heeds.
func Heeded(s locks.Spec, o locks.Options) locks.Options {
	given := reflect.ValueOf(&o).Elem()
	for i := range given.NumField() {
		name := given.Type().Field(i).Name
		if !slices.Contains(s.Options, name) && !slices.Contains([]string{"Name", "Home", "Operations"}, name) {
			given.Field(i).SetZero()
		}
	}
	return o
}

// MatchLocks are the locks that a list selects: names as LockByName finds them, patterns as in
// path.Match, or all. A pattern such as CLoF-*-mcs-* selects among all locks of so many parts.
func MatchLocks(list string) ([]Lock, error) {
	var known []string
	for _, s := range Locks() {
		known = append(known, s.Name)
	}
	for _, word := range words(list) {
		if rest, ok := strings.CutPrefix(strings.ToLower(word), "clof-"); ok && strings.ContainsAny(rest, "*?[") {
			known = append(known, composed(1+strings.Count(rest, "-"))...)
		}
	}
	names, err := match("lock", list, "a name that orwl locks lists", known, func(name string) (string, bool) {
		s, ok := LockByName(name)
		return s.Name, ok
	})
	if err != nil {
		return nil, err
	}
	var found []Lock
	for _, name := range names {
		s, _ := LockByName(name)
		found = append(found, s)
	}
	return found, nil
}

// mostComposed is how many parts a pattern of CLoF may have: 7^4 locks.
const mostComposed = 4

// composed are the names CLoF-X-Y-... of n parts.
func composed(n int) []string {
	if n < 2 || n > mostComposed {
		return nil
	}
	var parts []string
	for _, s := range locks.All() {
		_, one := locks.ByName("CLoF-" + s.Name + "-" + s.Name)
		_, two := locks.ByName("CLoF-" + s.Name) // TTS-MCS, for one, is a lock, and two parts
		if one && !two {
			parts = append(parts, s.Name)
		}
	}
	names := []string{"CLoF"}
	for range n {
		var longer []string
		for _, name := range names {
			for _, part := range parts {
				longer = append(longer, name+"-"+part)
			}
		}
		names = longer
	}
	return names
}

// LockByName is the lock of a name, in any case, with or without its hyphens. It may be made of
// others, such as P-HMCS-MCS. Those have their hyphens.
func LockByName(name string) (Lock, bool) {
	spelled := strings.Split(name, "-")
	for _, s := range Locks() {
		if plain(s.Name) == plain(name) {
			return s, true
		}
		for part := range strings.SplitSeq(s.Name, "-") {
			for i := range spelled {
				if strings.EqualFold(part, spelled[i]) {
					spelled[i] = part
				}
			}
		}
	}
	s, ok := locks.ByName(strings.Join(spelled, "-"))
	return rowOf(s), ok
}

// words are the names and patterns of a list.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// plain is what two spellings of a name have in common.
func plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "") }

// match expands a list of names and patterns. Each name comes once. hint says which names there are.
// byName finds the right spelling of a word that is no pattern.
func match(what, list, hint string, known []string, byName func(string) (string, bool)) (found []string, err error) {
	for _, word := range words(list) {
		var hits []string
		for _, name := range known {
			hit, err := path.Match(strings.ToLower(word), strings.ToLower(name))
			if err != nil {
				return nil, fmt.Errorf("lab: %q is no pattern: %w", word, err)
			}
			if hit || strings.EqualFold(word, "all") {
				hits = append(hits, name)
			}
		}
		if name, ok := byName(word); len(hits) == 0 && ok {
			hits = append(hits, name)
		}
		if len(hits) == 0 {
			return nil, fmt.Errorf("lab: no %s %q: want %s, a pattern, or all", what, word, hint)
		}
		for _, name := range hits {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("lab: no %s given: want %s, a pattern, or all", what, hint)
	}
	return found, nil
}
