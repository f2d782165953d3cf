package archtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A picture is a drawing of lines between names:
//
//	orwl/trace   metrics
//	     │          │
//	     └────┬─────┘
//	          ▼
//	        orwl ─▶ net/node, net/wire
//	          │
//	       ┌──▼───────────┐
//	       │  net/rma     │
//	       └──────────────┘
//
// Lines that meet are one: each name at an end of it has an arrow to each name at a head. An arrow
// at a box goes to the first name in it, and one at a list to all its names.
type picture [][]rune

// arrow is one that is drawn.
type arrow struct{ from, to string }

func newPicture(text string) (p picture) {
	for line := range strings.Lines(text) {
		p = append(p, []rune(strings.TrimRight(line, "\n")))
	}
	return p
}

// place is a column and a line.
type place struct{ x, y int }

func (at place) to(direction rune) place {
	switch direction {
	case 'N':
		return place{at.x, at.y - 1}
	case 'S':
		return place{at.x, at.y + 1}
	case 'W':
		return place{at.x - 1, at.y}
	}
	return place{at.x + 1, at.y}
}

// lines are the directions in which a piece of a line goes on, and heads those in which one points.
var (
	lines = map[rune]string{'│': "NS", '─': "WE", '┌': "SE", '┐': "SW", '└': "NE", '┘': "NW",
		'├': "NSE", '┤': "NSW", '┬': "WES", '┴': "WEN", '┼': "NSWE", '▼': "N", '▲': "S", '▶': "W", '◀': "E"}
	heads    = map[rune]rune{'▼': 'S', '▲': 'N', '▶': 'E', '◀': 'W'}
	opposite = map[rune]rune{'N': 'S', 'S': 'N', 'W': 'E', 'E': 'W'}
)

// at is what stands at a place, or a space.
func (p picture) at(at place) rune {
	if at.y < 0 || at.y >= len(p) || at.x < 0 || at.x >= len(p[at.y]) {
		return ' '
	}
	return p[at.y][at.x]
}

// arrows are all that are drawn. An error names a line that leads nowhere.
func (p picture) arrows() (all []arrow, err error) {
	seen := make(map[place]bool)
	for y := range p {
		for x := range p[y] {
			start := place{x, y}
			if lines[p.at(start)] == "" || seen[start] {
				continue
			}
			from, to := p.follow(start, seen)
			if len(to) > 0 && (len(from) == 0 || slices.Contains(append(from, to...), "")) {
				return nil, fmt.Errorf("the line at column %d of line %d leads from %q to %q", x+1, y+1, from, to)
			}
			for _, f := range from {
				for _, t := range to {
					all = append(all, arrow{f, t})
				}
			}
		}
	}
	return all, nil
}

// follow finds the names at the ends of a line. A frame without heads has none.
func (p picture) follow(start place, seen map[place]bool) (from, to []string) {
	for next := []place{start}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if towards, head := heads[p.at(at)]; head {
			to = append(to, p.names(at, towards)...)
		}
		for _, direction := range lines[p.at(at)] {
			beside := at.to(direction)
			if strings.ContainsRune(lines[p.at(beside)], opposite[direction]) {
				next = append(next, beside)
			} else if names := p.names(at, direction); len(names) > 0 {
				from = append(from, names[0])
			}
		}
	}
	if len(to) == 0 {
		return nil, nil
	}
	return from, to
}

var name = regexp.MustCompile(`[a-z][a-z0-9/]*(?:, [a-z][a-z0-9/]*)*`)

// names are those beside a place, or the first in the box there.
func (p picture) names(at place, direction rune) []string {
	beside := at.to(direction)
	for spaces := 0; spaces < 2 && p.at(beside) == ' ' && strings.ContainsRune("WE", direction); spaces++ {
		beside = beside.to(direction)
	}
	if beside.y < 0 || beside.y >= len(p) {
		return []string{""}
	}
	if p.at(beside) == '─' && direction == 'S' {
		_, inside, _ := strings.Cut(string(p[beside.y+1]), "│")
		return name.FindAllString(inside, 1)
	}
	line := string(p[beside.y])
	for _, span := range name.FindAllStringIndex(line, -1) {
		first, end := len([]rune(line[:span[0]])), len([]rune(line[:span[1]]))
		if first <= beside.x && beside.x < end {
			return strings.Split(line[span[0]:span[1]], ", ")
		}
	}
	return []string{""}
}
