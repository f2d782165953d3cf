package lives

import (
	"cmp"
	"maps"
	"slices"
)

// Key names a cut: the life that has made it, and the round after which it is. Rounds count from 1; a life that begins
// from the program's initial values begins from no cut, the zero Key.
type Key struct {
	Life  uint64 `msgpack:"life"`
	Round uint64 `msgpack:"round"`
}

// compare orders cuts by how far the program is in them.
func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Round, other.Round), cmp.Compare(k.Life, other.Life))
}

// Record is what one task adds to a cut.
type Record struct {
	Task     int
	Rounds   uint64 // the rounds that the task has been through: the cut's, or fewer if it has ended before
	Ended    bool   // it has no further round, whatever the program has declared
	Contents []Content
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
	tasks int // how many records the owner has
	of    map[int]Record
}

func (r *records) complete() bool { return len(r.of) == r.tasks }

// Held is a complete part, as its holder reports it.
type Held struct {
	Key
	Owner int `msgpack:"owner"` // the node whose tasks these were, in the life of the cut
	Tasks int `msgpack:"tasks"` // how many
}

// Report is what a node tells of the parts that it has, when a life has ended.
type Report struct {
	Tasks int    `msgpack:"tasks"` // of the whole program; 0 if the node does not know it
	Parts []Held `msgpack:"parts"`
}

// Plan says from which cut a life begins, and who sends the records.
type Plan struct {
	From    Key
	Holders []Holder // by owner
}

// Holder is the node of the new life that sends the records of a part.
type Holder struct{ Owner, Node int }

// Choose finds the plan of a life from the reports of its nodes, by their numbers in it. The plan is zero if there is no
// complete cut: then the life begins from the initial values.
func Choose(reports []Report) Plan {
	total := 0
	parts := make(map[Key]map[int]Held)
	for _, r := range reports {
		total = max(total, r.Tasks)
		for _, h := range r.Parts {
			if parts[h.Key] == nil {
				parts[h.Key] = make(map[int]Held)
			}
			parts[h.Key][h.Owner] = h
		}
	}
	var best Key
	for key, of := range parts {
		sum := 0
		for _, h := range of {
			sum += h.Tasks
		}
		if sum == total && key.compare(best) > 0 {
			best = key
		}
	}
	p := Plan{From: best}
	sends := make([]int, len(reports)) // how many tasks each holder sends
	for _, owner := range slices.Sorted(maps.Keys(parts[best])) {
		at := -1
		for i, r := range reports {
			if slices.ContainsFunc(r.Parts, func(h Held) bool { return h.Key == best && h.Owner == owner }) && (at < 0 || sends[i] < sends[at]) {
				at = i
			}
		}
		sends[at] += parts[best][owner].Tasks
		p.Holders = append(p.Holders, Holder{owner, at})
	}
	return p
}

// Stay says which nodes of a life are in the next one: all but those that leave. A node that has the only copy of a part of
// the newest cut stays nevertheless, and may leave at the end of the next life.
func Stay(reports []Report, leaves []bool) (stay []int) {
	from := Choose(reports).From
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
	for i, leave := range leaves {
		gone[i] = leave
		if _, of := rest(); leave && Choose(of).From != from {
			gone[i] = false
		}
	}
	stay, _ = rest()
	return stay
}
