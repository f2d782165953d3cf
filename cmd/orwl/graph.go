package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/orwl/placement"
)

// mostTasks is how many tasks a graph on the command line may have, so that a
// slip in a number does not ask for all memory.
const mostTasks = 1 << 22

// taskGraph makes the graph that a text names.
func taskGraph(text string) (placement.Graph, error) {
	kind, size, _ := strings.Cut(text, ":")
	switch kind {
	case "grid":
		width, height, _ := strings.Cut(size, "x")
		w, errW := strconv.Atoi(width)
		h, errH := strconv.Atoi(height)
		if errW != nil || errH != nil || w < 1 || h < 1 || w > mostTasks/h {
			return placement.Graph{}, fmt.Errorf("%q: want grid:WxH, as in grid:64x64, of up to %d tasks", text, mostTasks)
		}
		return gridOfTasks(w, h), nil
	case "ring":
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 || n > mostTasks {
			return placement.Graph{}, fmt.Errorf("%q: want ring:N, as in ring:64, of up to %d tasks", text, mostTasks)
		}
		return ringOfTasks(n), nil
	}
	file, err := input(text, "a file with lines of TASK TASK WEIGHT")
	if err != nil {
		return placement.Graph{}, fmt.Errorf("%q is not grid:WxH, not ring:N, and no file: %w", text, err)
	}
	defer file.Close()
	return readGraph(text, file)
}

// gridOfTasks is a stencil: each task is linked to those beside, above and below
// it. They are called COLUMN,ROW and numbered by rows.
func gridOfTasks(w, h int) placement.Graph {
	g := placement.Graph{Tasks: w * h}
	for t := range g.Tasks {
		x, y := t%w, t/w
		g.Names = append(g.Names, fmt.Sprintf("%d,%d", x, y))
		if x+1 < w {
			g.Edges = append(g.Edges, placement.Edge{A: t, B: t + 1, Weight: 1})
		}
		if y+1 < h {
			g.Edges = append(g.Edges, placement.Edge{A: t, B: t + w, Weight: 1})
		}
	}
	return g
}

// ringOfTasks links each task to the next, and the last to the first.
func ringOfTasks(n int) placement.Graph {
	g := placement.Graph{Tasks: n}
	for t := 0; t < n && n > 1; t++ {
		g.Edges = append(g.Edges, placement.Edge{A: t, B: (t + 1) % n, Weight: 1})
	}
	return g
}

// readGraph reads lines of two tasks and a weight. Tasks are numbered in the
// order in which they appear, and # begins a comment.
func readGraph(name string, r io.Reader) (placement.Graph, error) {
	var g placement.Graph
	number := make(map[string]int)
	task := func(name string) int {
		t, known := number[name]
		if !known {
			t = len(number)
			number[name] = t
			g.Names = append(g.Names, name)
		}
		return t
	}
	lines := bufio.NewScanner(r)
	at := 1
	for ; lines.Scan(); at++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		field := strings.Fields(line)
		if len(field) == 0 {
			continue
		}
		if len(field) != 3 {
			return g, fmt.Errorf("%s:%d: %d words, want TASK TASK WEIGHT", name, at, len(field))
		}
		weight, err := strconv.ParseInt(field[2], 10, 64)
		if err != nil || weight < 0 {
			return g, fmt.Errorf("%s:%d: weight %q, want a whole number, 0 or more", name, at, field[2])
		}
		if field[0] == field[1] {
			return g, fmt.Errorf("%s:%d: %s is linked with itself: leave the line out", name, at, field[0])
		}
		g.Edges = append(g.Edges, placement.Edge{A: task(field[0]), B: task(field[1]), Weight: weight})
	}
	if err := lines.Err(); err != nil {
		return g, fmt.Errorf("%s:%d: %w", name, at, err)
	}
	if g.Tasks = len(number); g.Tasks == 0 {
		return g, fmt.Errorf("%s: no task in it, want lines of TASK TASK WEIGHT", name)
	}
	return g, nil
}
