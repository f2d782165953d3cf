package topology

import (
	"slices"
	"strconv"
	"strings"
)

// pictureWidth is where lines of CPU numbers are broken.
const pictureWidth = 78

// pictureOfCPUs lists the CPUs in the order of ranks: 0-3 for four ranks on
// consecutive CPUs, 5×2 for two ranks on one. Nodes that all number their CPUs
// in one way are listed once.
func (t *Tree) pictureOfCPUs() string {
	cpus, whose := t.cpus, "CPUs in the order of ranks:"
	for i := 2; i <= t.Levels(); i++ {
		if _, n := t.Members(i, 0); t.Elements(i) > 1 && t.cpusRepeat(i) {
			cpus, whose = t.cpus[:n], "CPUs in the order of ranks, in each "+t.LevelName(i)+":"
			break
		}
	}
	var b strings.Builder
	b.WriteString(whose)
	column := len(whose)
	for len(cpus) > 0 {
		text, n := cpuRun(cpus)
		cpus = cpus[n:]
		if len(cpus) > 0 {
			text += ","
		}
		if column+1+len(text) > pictureWidth {
			b.WriteString("\n ")
			column = 1
		}
		b.WriteString(" " + text)
		column += 1 + len(text)
	}
	return b.String()
}

// cpusRepeat reports whether all elements of level i have the same CPU numbers.
func (t *Tree) cpusRepeat(i int) bool {
	_, n := t.Members(i, 0)
	for j := range t.Elements(i) {
		first, m := t.Members(i, j)
		if !slices.Equal(t.cpus[:n], t.cpus[first:int(first)+m]) {
			return false
		}
	}
	return true
}

// cpuRun writes the longest run of equal or of consecutive numbers that cpus
// begins with, and counts it.
func cpuRun(cpus []int) (text string, n int) {
	equal, next := 1, 1
	for equal < len(cpus) && cpus[equal] == cpus[0] {
		equal++
	}
	for next < len(cpus) && cpus[next] == cpus[0]+next {
		next++
	}
	if equal > 1 {
		return strconv.Itoa(cpus[0]) + "×" + strconv.Itoa(equal), equal
	}
	return span(cpus[0], cpus[next-1]), next
}
