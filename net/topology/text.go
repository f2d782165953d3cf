package topology

import (
	"strconv"
	"strings"
)

// String is the description of the tree that Parse turns into an equal tree.
// If elements of a level differ in their number of parts, the word for the parts
// lists them from left to right, as Parse explains. CPU numbers are not told.
func (t *Tree) String() string {
	var b strings.Builder
	for i := 1; i <= len(t.levels); i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(t.LevelName(i + 1))
		b.WriteByte(':')
		writeRuns(&b, t.parts(i))
	}
	return b.String()
}

// parts counts what each element of level i consists of.
func (t *Tree) parts(i int) (runs []run) {
	for j := range t.levels[i-1].elements() {
		from, to := t.children(i, j)
		runs = appendRun(runs, to-from, 1)
	}
	return runs
}

func writeRuns(b *strings.Builder, runs []run) {
	for k, r := range runs {
		if k > 0 {
			b.WriteByte('+')
		}
		b.WriteString(strconv.Itoa(r.value))
		if len(runs) > 1 && r.times > 1 {
			b.WriteByte('*')
			b.WriteString(strconv.Itoa(r.times))
		}
	}
}
