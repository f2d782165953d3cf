package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Picture draws the tree as text, one line for each element. It draws neighbours
// that look alike once:
//
//	machine: 12 ranks
//	├─ 2 × node (0-1): 4 ranks each
//	│  └─ 2 × socket: 2 ranks each
//	│     └─ 2 × core
//	└─ node 2: 4 ranks (8-11)
//	   └─ 4 × core
//
// The CPU numbers follow, if the tree has them. The last line has no newline.
func (t *Tree) Picture() string {
	p := painter{tree: t, shapes: t.shapes()}
	fmt.Fprintf(&p.out, "%s: %s", t.LevelName(1), plural(t.ranks, "rank"))
	p.below(1, 0, "\n", true)
	if t.cpus != nil {
		p.out.WriteString("\n" + t.pictureOfCPUs())
	}
	return p.out.String()
}

type painter struct {
	tree   *Tree
	shapes [][]int // from Tree.shapes
	out    strings.Builder
}

// below draws the inside of element j of level i. single means that the path from
// the machine to this element stands for this element only. Otherwise the picture
// shows no numbers of elements and ranks, since they would fit one of several.
func (p *painter) below(i, j int, margin string, single bool) {
	from, to := p.tree.children(i, j)
	if i == p.tree.Levels() {
		fmt.Fprintf(&p.out, "%s└─ %d × %s", margin, to-from, p.tree.leaf)
		return
	}
	var runs []run
	for _, shape := range p.shapes[i][from:to] {
		runs = appendRun(runs, shape, 1)
	}
	for k, alike := range runs {
		branch, trunk := "├─ ", "│  "
		if k == len(runs)-1 {
			branch, trunk = "└─ ", "   "
		}
		p.out.WriteString(margin + branch)
		p.label(i+1, from, alike.times, single)
		p.below(i+1, from, margin+trunk, single && alike.times == 1)
		from += alike.times
	}
}

// label writes the line of the elements j to j+times-1 of level i.
func (p *painter) label(i, j, times int, single bool) {
	name := p.tree.LevelName(i)
	first, n := p.tree.Members(i, j)
	size := plural(n, "rank")
	switch {
	case single && times == 1:
		fmt.Fprintf(&p.out, "%s %d: %s (%s)", name, j, size, span(int(first), int(first)+n-1))
	case single:
		fmt.Fprintf(&p.out, "%d × %s (%s): %s each", times, name, span(j, j+times-1), size)
	case times == 1:
		fmt.Fprintf(&p.out, "1 × %s: %s", name, size)
	default:
		fmt.Fprintf(&p.out, "%d × %s: %s each", times, name, size)
	}
}

// shapes gives every element a number. Two elements of a level have the same
// number if and only if they have the same parts, all the way down.
func (t *Tree) shapes() [][]int {
	shapes := make([][]int, len(t.levels))
	for i := len(t.levels); i >= 1; i-- {
		numbers := map[string]int{}
		shapes[i-1] = make([]int, t.levels[i-1].elements())
		for j := range shapes[i-1] {
			from, to := t.children(i, j)
			inside := []run{{0, to - from}}
			if i < len(t.levels) {
				inside = nil
				for _, shape := range shapes[i][from:to] {
					inside = appendRun(inside, shape, 1)
				}
			}
			key := fmt.Sprint(inside)
			if _, known := numbers[key]; !known {
				numbers[key] = len(numbers)
			}
			shapes[i-1][j] = numbers[key]
		}
	}
	return shapes
}

func span(first, last int) string {
	if first == last {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// pictureWidth limits the lines of CPU numbers, in columns.
const pictureWidth = 78

// pictureOfCPUs lists the CPUs in the order of ranks: 0-3 for four ranks on
// consecutive CPUs, 5×2 for two ranks on CPU 5. If all elements of a level have
// the same CPU numbers, it lists them once.
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

// cpusRepeat reports whether all elements of level i have the same CPU numbers in
// the same order.
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

// cpuRun returns the text and the length of the first run of equal or consecutive
// numbers.
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
