package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPicture compares the arrows of ARCHITECTURE.md with the imports: each arrow is one, and each
// import between packages that are drawn is an arrow, a way along arrows, or named below the picture.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	module := importsOf(t, filepath.Join("..", ".."))
	_, drawn, _ := strings.Cut(string(text), "```\n")
	drawn, rest, _ := strings.Cut(drawn, "```\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for _, fault := range pictureFaults(module, drawn, rest) {
		t.Error(fault)
	}
	for from, to := range map[string]string{
		"handle":                    "metrics", // orwl imports handle
		"locks/lockers ─▶ locks":    "locks/lockers ◀─ locks",
		"net/p2p ◀────┘":            "net/p2p      │",
		"net/rma  ─▶  net/topology": "net/rma      net/topology",
		"net/mem, net/shm":          "net/mem, net/sim",
		"`orwl/internal/books`":     "`orwl/books`",
		"internal/queue ":           "internal/books ",
		"net/internal/direct":       "net/internal/extents",
		"orwl ─────────────▶ net/node": "orwl ────────────── net/node",
	} {
		changedDrawn, changedRest := strings.Replace(drawn, from, to, 1), rest
		if changedDrawn == drawn {
			changedRest = strings.Replace(rest, from, to, 1)
		}
		if changedDrawn+changedRest == drawn+rest || len(pictureFaults(module, changedDrawn, changedRest)) == 0 {
			t.Errorf("%q instead of %q is not noticed", to, from)
		}
	}
}

// pictureFaults are the differences of a picture, with the text below it, from the module.
func pictureFaults(module imports, drawn, below string) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	arrows, err := newPicture(drawn).arrows()
	if err != nil {
		return []string{err.Error()}
	}
	said := inText(below)
	isDrawn := make(map[string]bool)
	for _, word := range name.FindAllString(strings.ReplaceAll(drawn, ",", " "), -1) {
		if paths := module.means(word); len(paths) == 1 {
			isDrawn[paths[0]] = true
		}
	}
	for i, a := range arrows {
		for _, end := range []*string{&a.from, &a.to} {
			paths := module.means(*end)
			if len(paths) != 1 {
				fault("%q is in the picture, and means %q", *end, paths)
				return faults
			}
			*end = paths[0]
		}
		arrows[i] = a
		if !slices.Contains(module[a.from], a.to) {
			fault("the picture has an arrow from %s to %s, and no such import is there", a.from, a.to)
		}
	}
	known := append(arrows, said...)
	for from := range isDrawn {
		for _, to := range module[from] {
			if !isDrawn[to] || program(from) || leads(known, from, to) {
				continue
			}
			fault("the module has an import from %s to %s: draw an arrow, or say so below the picture", from, to)
		}
	}
	for _, a := range said {
		if !slices.Contains(module[a.from], a.to) {
			fault("the text below the picture says that %s imports %s, which it does not", a.from, a.to)
		}
	}
	return faults
}

var backquoted = regexp.MustCompile("`([a-z0-9/]+)`")

// inText are the imports that a list names: - `a` imports `b` and `c`.
func inText(below string) (all []arrow) {
	for _, item := range strings.Split(below, "\n- ")[1:] {
		item, _, _ = strings.Cut(item, "\n\n")
		names := backquoted.FindAllStringSubmatch(item, -1)
		for _, to := range names[1:] {
			all = append(all, arrow{names[0][1], to[1]})
		}
	}
	return all
}

// program reports whether a folder is one of programs, which import what they like.
func program(path string) bool {
	root, _, _ := strings.Cut(path, "/")
	return root == "apps" || root == "cmd" || root == "examples"
}

// imports are what each package imports of the module, without its tests.
type imports map[string][]string

// importsOf reads a module's. Those of a program's parts are its own, too.
func importsOf(t *testing.T, root string) imports {
	t.Helper()
	all := make(imports)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != "." && (strings.ContainsAny(d.Name()[:1], "._") || isModule(filepath.Join(root, name)))):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for from := path.Dir(name); ; from = path.Dir(from) {
			all[from] = append(all[from], []string{}...)
			for _, spec := range file.Imports {
				to, _ := strconv.Unquote(spec.Path.Value)
				if to, ours := strings.CutPrefix(to, module+"/"); ours {
					all[from] = append(all[from], to)
				}
			}
			if !program(path.Dir(from)) {
				return nil
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// means are the packages that a name of the picture may mean: its end is enough.
func (all imports) means(name string) (found []string) {
	if _, ok := all[name]; ok {
		return []string{name}
	}
	for path := range all {
		if strings.HasSuffix(path, "/"+name) {
			found = append(found, path)
		}
	}
	return found
}

// leads reports whether there is a way along arrows.
func leads(arrows []arrow, from, to string) bool {
	for _, a := range arrows {
		if a.from == from && (a.to == to || leads(arrows, a.to, to)) {
			return true
		}
	}
	return false
}

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
