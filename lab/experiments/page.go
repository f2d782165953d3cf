package experiments

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/lab/report"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// figure is one of the page's figures, with what the paper says of its own and what is different
// here.
type figure struct {
	Title  string
	Paper  string // in our words
	Here   string
	SVG    template.HTML
	Points []point
}

// page writes the page.
func (p plan) page(to io.Writer, points []point, begin time.Time) error {
	var runs, leftOut int
	of := make(map[string][]point)
	for _, o := range points {
		if o.leftOut != "" {
			leftOut++
		}
		if o.machine == "" {
			runs++
		}
		of[o.figure] = append(of[o.figure], o)
	}
	return pageTemplate.Execute(to, map[string]any{
		"Machine": fmt.Sprintf("%s/%s, %d cores, %s, %s", runtime.GOOS, runtime.GOARCH, p.cores, runtime.Version(), begin.Format("2 January 2006 15:04")),
		"Plan": fmt.Sprintf("the %s kernel, %v for all, %.1f GB of memory at most, scale %.4g: %d runs, %d of them left out", p.kernel, p.time,
			float64(p.memory)/1e9, p.scale, runs, leftOut),
		"Figures": []figure{p.sizes(of["2a"]), p.shares(of["2a"]), p.overcommit(of["2c"]), p.weak(of["2d"]), p.clusters(of["2d"])},
	})
}

// byGrid gives each grid's line what value says of its runs, by the side of a block.
func byGrid(points []point, name string, dashed bool, value func(point) float64) (lines []report.Series) {
	for i, side := range gridSides {
		l := report.Series{Name: fmt.Sprintf("%d blocks%s", side*side, name), Colour: i, Dashed: dashed}
		for _, o := range points {
			if o.leftOut == "" && o.blocks[0] == side {
				l.Points = append(l.Points, at(o.side[0], value(o)))
			}
		}
		slices.SortFunc(l.Points, func(a, b report.Point) int { return int(a.X - b.X) })
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// at is a point of a line. It has no interval: each run is made once.
func at(x int, y float64) report.Point { return report.Point{X: float64(x), Y: y, Low: y, High: y} }

// svg draws a figure.
func svg(title, x, y string, logY bool, lines ...report.Series) template.HTML {
	var b strings.Builder
	p := report.Plot{Title: title, X: x, Y: y, LogX: true, LogY: logY, Series: lines}
	_ = p.SVG(&b) // a Builder takes everything
	return template.HTML(b.String())
}

func (p plan) sizes(points []point) figure {
	return figure{
		Title: "Time an element, by the size of a block (Fig. 2(a))",
		Paper: "§4.2.1: a node for each of 4, 16, 36, 64 or 100 blocks, which grow until the memory is full. The time an element falls " +
			"towards a limit. With 4 blocks it is lower, because half of their borders have no neighbour; the other four lines are the same line.",
		Here: fmt.Sprintf("All blocks share one process with %d cores, so the limit is that of the cores and of the memory. Small blocks show what a step "+
			"of a task costs beside its elements. Where the lines lie together, more blocks of the same size cost no more an element.", p.cores),
		SVG: svg("One element", "rows and columns of a block", "ns an element and iteration", true,
			byGrid(points, "", false, func(o point) float64 { return o.NsPerElement })...),
		Points: points,
	}
}

func (p plan) shares(points []point) figure {
	possible := func(share func(point) float64) func(point) float64 {
		return func(o point) float64 { return 100 * share(o) / (1 - o.LeastWaitShare) }
	}
	lines := append(byGrid(points, ", compute", false, possible(func(o point) float64 { return o.ComputeShare })),
		byGrid(points, ", wait", true, possible(func(o point) float64 { return max(0, o.WaitShare-o.LeastWaitShare) }))...)
	return figure{
		Title: "Computing and waiting (Fig. 2(b))",
		Paper: "§4.2.2: the same runs. Main tasks of small problems wait nearly all the time. The share of computing grows with the size, up to about 55 %: " +
			"neighbours need each other's borders, so not all of them can compute at once. The time of waiting itself hardly changes, and a part of it overlaps with computing.",
		Here: "The paper's main tasks had a node each. Ours share cores, and must wait while others compute: 16 blocks on 2 cores wait 87.5 % of the time. " +
			"So the lines are shares of what is possible: 100 % computing is a block on every core all the time. The dashed lines are what blocks wait beyond what they must.",
		SVG: svg("Shares of the time", "rows and columns of a block", "% of the time that is possible", false, lines...), Points: points,
	}
}

func (p plan) overcommit(points []point) figure {
	measured, ideal := report.Series{Name: "measured"}, report.Series{Name: "a core's time / cores", Colour: -1, Dashed: true}
	alone := 0.0 // one block on one core
	for _, o := range points {
		switch {
		case o.leftOut != "":
		case o.perCore == 0:
			alone = o.msIteration() / float64(p.cores) / o.elements()
		default:
			measured.Points = append(measured.Points, at(o.perCore, o.msIteration()))
			if alone > 0 {
				ideal.Points = append(ideal.Points, at(o.perCore, alone*o.elements()))
			}
		}
	}
	return figure{
		Title: "More main tasks than cores (Fig. 2(c))",
		Paper: "§4.2.3: 64 blocks of 4000×4000 on 64, 32, 16, 8 and 4 nodes of 4 cores, which is 1 to 16 main tasks a node. Several tasks are needed to " +
			"keep the four cores of a node busy. With many more tasks an iteration takes only a little longer: a task that has its data computes while others wait.",
		Here: fmt.Sprintf("One matrix of %d×%d (the paper's has 32000×32000 and takes 49 GB) is cut into 1 to 16 blocks for each of %d cores, whose workers are "+
			"pinned. The dashed line is what one block on one core takes, divided by the cores.", int(paperMatrix*p.scale), int(paperMatrix*p.scale), p.cores),
		SVG: svg("The whole matrix", "main tasks a core", "ms an iteration", false, measured, ideal), Points: points,
	}
}

func (p plan) weak(points []point) figure {
	measured, ideal := report.Series{Name: "measured"}, report.Series{Name: "if nodes cost nothing", Colour: -1, Dashed: true}
	points = slices.DeleteFunc(slices.Clone(points), func(o point) bool { return o.machine != "" })
	for _, o := range points {
		if o.leftOut != "" {
			continue
		}
		measured.Points = append(measured.Points, at(o.nodes, o.msIteration()))
		ideal.Points = append(ideal.Points, at(o.nodes, measured.Points[0].Y*max(1, float64(o.nodes)/float64(p.cores))))
	}
	return figure{
		Title: "Weak scaling over nodes (Fig. 2(d))",
		Paper: "§4.2.4: 16 main tasks of 3000×3000 on each of 4 to 64 nodes of 4 cores. The problem grows with the nodes, and an iteration takes hardly longer.",
		Here: fmt.Sprintf("A node is a process of this machine with one of its %d cores, and 16 blocks of %d×%d. Twice as many nodes as cores share them, and then "+
			"the dashed line rises.", p.cores, int(paperBlock*p.scale), int(paperBlock*p.scale)),
		SVG: svg("16 blocks a node", "nodes", "ms an iteration", false, measured, ideal), Points: points,
	}
}

// clusters is Fig. 2(d) on described machines.
func (p plan) clusters(points []point) figure {
	points = slices.DeleteFunc(slices.Clone(points), func(o point) bool { return o.machine == "" })
	var lines []report.Series
	for i, machine := range machines {
		l := report.Series{Name: machine, Colour: i}
		for _, o := range points {
			if o.machine == machine {
				l.Points = append(l.Points, at(o.nodes, o.msIteration()))
			}
		}
		if len(l.Points) > 0 {
			lines = append(lines, l)
		}
	}
	return figure{
		Title: "Weak scaling over a cluster, predicted (Fig. 2(d))",
		Paper: "§4.2.4: up to 64 nodes of 4 cores.",
		Here: fmt.Sprintf("The simulator plays the cores of a described cluster, with 16 blocks of %[1]d×%[1]d on each node of %[2]d cores. A sweep of a block takes as "+
			"long as one core took for so many elements in the first run above. What is sent takes the time of the machine's network: libp2p for ethernet, FDR14 for "+
			"coolmuc-2. The runtime's own work is not in it.", paperBlock, nodeSide),
		SVG: svg("16 blocks a node", "nodes", "ms an iteration", false, lines...), Points: points,
	}
}

// Left is why a run was left out, for the page.
func (o point) Left() string { return o.leftOut }

// Cells are the run's numbers, for the page's tables.
func (o point) Cells() []string {
	cells := []string{fmt.Sprintf("%d×%d", o.blocks[0], o.blocks[1]), fmt.Sprintf("%d×%d", o.side[0], o.side[1]), fmt.Sprint(o.nodes)}
	if o.leftOut != "" {
		return cells
	}
	return append(cells, fmt.Sprint(o.iterations), fmt.Sprintf("%.2f", o.NsPerElement), fmt.Sprintf("%.2f", o.msIteration()),
		fmt.Sprintf("%.1f %%", 100*o.ComputeShare), fmt.Sprintf("%.1f %%", 100*o.WaitShare), fmt.Sprintf("%.1f %%", 100*o.LeastWaitShare))
}
