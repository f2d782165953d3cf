package topology

// tree builds what a description says, from the leaves up: where an element
// begins is where the first of its parts begins.
func (d *description) tree() *Tree {
	n := len(d.words)
	leaves := d.words[n-1]
	t := newMachine(leaves.total, leaves.name, nil)
	t.levels = append(t.levels, make([]level, n-1)...)
	var parts []Rank // first ranks of the level below; nil while that is the ranks
	for k := n - 1; k > 0; k-- {
		parts = begins(d.words[k].runs, parts)
		t.levels[k] = newLevel(d.words[k-1].name, parts, t.ranks)
	}
	return t
}

// begins returns the first rank of every element, given how many parts each has
// and the first rank of every part.
func begins(counts []run, parts []Rank) (first []Rank) {
	part := 0
	for _, r := range counts {
		for range r.times {
			if parts == nil {
				first = append(first, Rank(part))
			} else {
				first = append(first, parts[part])
			}
			part += r.value
		}
	}
	return first
}
