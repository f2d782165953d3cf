package experiments

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// plan is what to run on this machine.
type plan struct {
	cores  int
	memory int64         // the most that runs may take
	time   time.Duration // the time of all runs
	scale  float64       // of the paper's matrix in 2c and blocks in 2d, along each side; 0: what fits
	kernel string

	program string // llk23
}

// point is one run of llk23, and what came of it.
type point struct {
	figure     string // "2a" is also 2b's
	blocks     [2]int // rows and columns of the grid
	side       [2]int // of a block
	nodes      int
	processors int // of each node
	perCore    int // main tasks a core, in 2c
	pin        bool
	iterations int
	leftOut    string // why it was not run
	machine    string // the machine of a prediction, "" for a run here
	result
}

// The paper's experiments. A share of less than a minute has the first two of each list.
var (
	gridSides  = []int{2, 4, 6, 8, 10}                     // 4 to 100 blocks
	blockSides = []int{16, 64, 8, 32, 128, 256, 512, 1024} // small ones first, for a share
	tasksACore = []int{1, 2, 4, 8, 16}
	nodeCounts = []int{1, 2, 4, 8, 16, 32, 64}
)

const (
	paperMatrix = 8 * 4000 // 2c: 64 blocks of 4000x4000, 49 GB
	paperBlock  = 3000     // 2d: 16 of them a node
	share       = time.Minute
)

// The time that each experiment may take, as a part of all.
var parts = map[string]float64{"2a": 0.55, "2c": 0.2, "2d": 0.25}

// few are the values of a list that fit into the time.
func (p plan) few(values []int) []int {
	if p.time < share {
		return values[:2]
	}
	return values
}

// points are all runs, in the order in which they are made.
func (p plan) points() (all []point) {
	for _, side := range p.few(blockSides) {
		for _, grid := range p.few(gridSides) {
			all = append(all, point{figure: "2a", blocks: [2]int{grid, grid}, side: [2]int{side, side}, nodes: 1, processors: p.cores})
		}
	}
	matrix := int(paperMatrix * p.scale)
	one := point{figure: "2c", blocks: [2]int{1, 1}, side: [2]int{matrix, matrix}, nodes: 1, processors: 1, pin: true}
	all = append(all, one) // the time of a core alone
	for _, tasks := range p.few(tasksACore) {
		grid := nearSquare(tasks * p.cores)
		all = append(all, point{figure: "2c", blocks: grid, side: [2]int{matrix / grid[0], matrix / grid[1]}, nodes: 1, processors: p.cores,
			perCore: tasks, pin: true})
	}
	for _, nodes := range p.few(nodeCounts) {
		if nodes > 2*p.cores {
			break
		}
		side := int(paperBlock * p.scale)
		all = append(all, point{figure: "2d", blocks: [2]int{4 * nodes, 4}, side: [2]int{side, side}, nodes: nodes, processors: 1})
	}
	for i := range all {
		all[i].iterations = p.iterations(all[i])
	}
	return all
}

// nearSquare is a grid of n blocks that is as square as can be, with no fewer rows than columns.
func nearSquare(n int) [2]int {
	cols := int(math.Sqrt(float64(n)))
	for n%cols > 0 {
		cols--
	}
	return [2]int{n / cols, cols}
}

// withScale chooses the scale if it is not given: the largest power of a half whose matrix fits
// into the memory, and whose iterations fit into the time.
func (p plan) withScale() plan {
	if p.scale > 0 {
		return p
	}
	for p.scale = 1; p.scale > 1.0/128; p.scale /= 2 {
		fits := true
		for _, one := range p.points() {
			if one.figure != "2a" && (one.bytes() > p.memory || one.atLeast() > p.slice(one.figure)) {
				fits = false
			}
		}
		if fits {
			break
		}
	}
	return p
}

// A run is expected to take as long as on a slow core.
const (
	nsElement = 6.0
	nsBlock   = 10_000.0
	nsSetup   = 100.0 // for an element
	starting  = 150 * time.Millisecond
)

func (o point) elements() float64 {
	return float64(o.blocks[0]*o.blocks[1]) * float64(o.side[0]) * float64(o.side[1])
}

func (o point) bytes() int64 { return int64(48 * o.elements()) }

// cost is what so many iterations take, if all is done by one processor.
func (o point) cost(iterations int) time.Duration {
	blocks := float64(o.blocks[0] * o.blocks[1])
	return time.Duration(nsSetup*o.elements()) + time.Duration(o.nodes)*starting +
		time.Duration(float64(iterations)*(nsElement*o.elements()+nsBlock*blocks))
}

// leastIterations make a mean that says something.
const leastIterations = 5

func (o point) atLeast() time.Duration { return o.cost(leastIterations) }

// slice is how long each run of an experiment may take.
func (p plan) slice(figure string) time.Duration {
	count := map[string]int{"2a": len(p.few(blockSides)) * len(p.few(gridSides)), "2c": 1 + len(p.few(tasksACore)), "2d": 0}[figure]
	for _, nodes := range p.few(nodeCounts) {
		if figure == "2d" && nodes <= 2*p.cores {
			count++
		}
	}
	return time.Duration(parts[figure] * float64(p.time) / float64(count))
}

// iterations are the paper's 100, or as many as fit, and more if 100 are too short to measure. A
// machine that is busy beside has a third of the time in reserve.
func (p plan) iterations(o point) int {
	const enough = 2 * time.Second
	fit := func(in time.Duration) int { return int((in - o.cost(0)) / (o.cost(1) - o.cost(0))) }
	most := p.slice(o.figure) * 2 / 3
	return max(leastIterations, fit(min(enough, most)), min(100, fit(most)))
}

// check says why a run must be left out, or nothing. So much is left of its experiment's time.
func (p plan) check(o point, left time.Duration) string {
	switch {
	case o.bytes() > p.memory:
		return fmt.Sprintf("it needs %.1f GB of memory", float64(o.bytes())/1e9)
	case o.cost(o.iterations) > left:
		return "there is no time for it"
	}
	return ""
}

// args are llk23's for the run.
func (o point) args(kernel string) []string {
	text := fmt.Sprintf("-grid %dx%d -block %dx%d -iters %d -sweeps 1 -kernel %s -nodes %d -verify=false", o.blocks[0], o.blocks[1], o.side[0], o.side[1],
		o.iterations, kernel, o.nodes)
	if o.pin {
		text += " -pin"
	}
	return strings.Fields(text)
}
