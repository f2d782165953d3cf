package lives

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Key names a cut: the life that has made it, the run of the program, and the round after which it is. Runs and rounds count
// from 1. A run that begins from the program's initial values begins from no cut, the zero Key.
type Key struct {
	Life  uint64 `msgpack:"life"`
	Run   uint64 `msgpack:"run"`
	Round uint64 `msgpack:"round"`
}

// End is the round of a cut at the end of a run: no task has a further round.
const End = math.MaxUint32

// Compare orders cuts by how far the program is in them.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Run, other.Run), cmp.Compare(k.Round, other.Round), cmp.Compare(k.Life, other.Life))
}

// String is the cut as the log says it.
func (k Key) String() string {
	if k.Round == End {
		return fmt.Sprintf("the end of run %d", k.Run)
	}
	return fmt.Sprintf("round %d of run %d", k.Round, k.Run)
}

// Record is what one task adds to a cut.
type Record struct {
	Task     int
	Rounds   uint64 // the rounds that the task has been through: the cut's, or fewer if it has ended before
	Ended    bool   // it has no further round, whatever the program has declared
	Contents []Content

	bulk []byte // of all contents, one behind the other, if Copy has made them
}

// Copy gives the record copies of some contents, in one piece of memory, and returns how many bytes they have.
func (r *Record) Copy(contents []Content) int {
	size := 0
	for _, c := range contents {
		size += len(c.Bytes)
	}
	r.bulk, r.Contents = make([]byte, 0, size), contents
	for i, c := range contents {
		from := len(r.bulk)
		r.bulk = append(r.bulk, c.Bytes...)
		contents[i].Bytes = r.bulk[from:len(r.bulk):len(r.bulk)]
	}
	return size
}

// Content is what a resource holds that the task was the last to write.
type Content struct {
	Resource int
	Bytes    []byte
}

// part names the records of one node in a cut.
type part struct {
	Key
	owner int
}

// records are the records of one part that have come.
type records struct {
	Held // the owner, and how many records of the program it has
	of   map[int]Record
}

func (r *records) complete() bool { return len(r.of) == r.Tasks }

// Held is a complete part, as its holder reports it.
type Held struct {
	Key
	Owner   int    `msgpack:"owner"`    // the node whose tasks these were, in the life of the cut
	Tasks   int    `msgpack:"tasks"`    // how many
	Total   int    `msgpack:"total"`    // tasks of the run
	Program uint64 `msgpack:"declared"` // a number of what the run has declared, if other programs may have left cuts
}

// Report is what a node tells of the parts that it has, when a life has ended.
type Report struct {
	Parts []Held `msgpack:"parts"`
}

// Plan says from which cut a run begins, and who sends the records.
type Plan struct {
	From    Key
	Holders []Holder // by owner
}

// Holder is the node of the new life that sends the records of a part.
type Holder struct{ Owner, Node int }

// cut is a cut of a program.
type cut struct {
	Key
	program uint64
}

// complete are the complete cuts that the reports have, with the parts by owner.
func complete(reports []Report) map[cut]map[int]Held {
	all := make(map[cut]map[int]Held)
	for _, r := range reports {
		for _, h := range r.Parts {
			c := cut{h.Key, h.Program}
			if all[c] == nil {
				all[c] = make(map[int]Held)
			}
			all[c][h.Owner] = h
		}
	}
	maps.DeleteFunc(all, func(_ cut, of map[int]Held) bool {
		sum, total := 0, 0
		for _, h := range of {
			sum, total = sum+h.Tasks, h.Total
		}
		return sum != total
	})
	return all
}

// Choose finds the plan of a run from the reports of the nodes, by their numbers in this life: the latest complete cut. The plan is zero if
// there is none: then the run begins as the program says.
func Choose(reports []Report, run, program uint64) Plan {
	var best Key
	all := complete(reports)
	for c := range all {
		if c.Run == run && c.program == program && c.Compare(best) > 0 {
			best = c.Key
		}
	}
	parts := all[cut{best, program}]
	p := Plan{From: best}
	sends := make([]int, len(reports)) // how many tasks each holder sends
	for _, owner := range slices.Sorted(maps.Keys(parts)) {
		at := -1
		for i, r := range reports {
			if slices.Contains(r.Parts, parts[owner]) && (at < 0 || sends[i] < sends[at]) {
				at = i
			}
		}
		sends[at] += parts[owner].Tasks
		p.Holders = append(p.Holders, Holder{owner, at})
	}
	return p
}

// Newest is the complete cut in which the program is furthest, the zero Key if there is none.
func Newest(reports []Report) (best Key) {
	for c := range complete(reports) {
		if c.Compare(best) > 0 {
			best = c.Key
		}
	}
	return best
}

// Stay says which nodes of a life are in the next one: all but those that leave. A node that has the only copy of a part of
// the newest cut of a run stays nevertheless, and may leave at the end of the next life.
func Stay(reports []Report, leaves []bool) (stay []int) {
	gone := make([]bool, len(reports))
	rest := func() (nodes []int, of []Report) {
		for i, r := range reports {
			if !gone[i] {
				nodes, of = append(nodes, i), append(of, r)
			}
		}
		return nodes, of
	}
	if !slices.Contains(leaves, false) {
		return nil
	}
	from := latest(reports)
	for i, leave := range leaves {
		gone[i] = leave
		if _, of := rest(); leave && !maps.Equal(latest(of), from) {
			gone[i] = false
		}
	}
	stay, _ = rest()
	return stay
}

// latest are the latest complete cuts of all runs.
func latest(reports []Report) map[cut]Key {
	all := make(map[cut]Key)
	for c := range complete(reports) {
		if of := (cut{Key{Run: c.Run}, c.program}); c.Compare(all[of]) > 0 {
			all[of] = c.Key
		}
	}
	return all
}
