package watch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// TopOptions say which run to show in a terminal, and how.
type TopOptions struct {
	Address string // host:port of the page of some node
	Out     io.Writer
	// Size is the size of the terminal. Nil: there is none, and each look is one line.
	Size func() (cols, lines int)
	Once bool // one look, as a terminal shows it
}

// ErrNoRun means that nothing at an address knows a run.
var ErrNoRun = errors.New("no run is shown there: start the program with ORWL_WATCH=1, -watch or -metrics")

// Top shows a run until it ends, or ctx does.
func Top(ctx context.Context, o TopOptions) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.Address+"/watch/events", nil)
	if err != nil {
		return err
	}
	answer, err := new(http.Client).Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s says %s", ErrNoRun, o.Address, answer.Status)
	}
	t := top{o: o, programs: make(map[int]*program)}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 2*keepsBytes)
	name := ""
	for lines.Scan() {
		line := lines.Bytes()
		switch field, value, _ := bytes.Cut(line, []byte(": ")); string(field) {
		case "event":
			name = string(value)
		case "data":
			over, err := t.take(name, value)
			if over || err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return lines.Err()
}

// top is a run in a terminal.
type top struct {
	o        TopOptions
	programs map[int]*program
	looks    []look // of the last seconds
	lines    int    // of the picture that stands
	told     time.Time
}

const (
	rateOver  = 5 * time.Second
	lineEvery = time.Second
	fresh     = 2 * time.Second // an older look is one of the last minute
)

// take takes an event. It reports whether it was the last one.
func (t *top) take(name string, data []byte) (over bool, err error) {
	switch name {
	case "end":
		if !t.o.Once {
			_, err = fmt.Fprintln(t.o.Out, "the program has ended, or this node has left")
		}
		return true, err
	case "program":
		var p program
		err = json.Unmarshal(data, &p)
		t.programs[p.ID] = &p
	case "look":
		var l look
		if err = json.Unmarshal(data, &l); err != nil {
			return false, err
		}
		t.looks = append(t.looks, l)
		for len(t.looks) > 2 && l.At-t.looks[1].At > rateOver.Milliseconds() {
			t.looks = t.looks[1:]
		}
		if time.Since(time.UnixMilli(l.At)) > fresh {
			return false, nil
		}
		return t.show(&t.looks[len(t.looks)-1])
	}
	return false, err
}

// show shows a look.
func (t *top) show(l *look) (over bool, err error) {
	p := t.programs[l.Program]
	if p == nil || t.o.Once && len(t.looks) < 2 { // a rate is of two looks
		return false, nil
	}
	cols, lines := 100, 40
	switch {
	case t.o.Size != nil:
		cols, lines = t.o.Size()
	case !t.o.Once:
		if now := time.UnixMilli(l.At); now.Sub(t.told) >= lineEvery {
			t.told = now
			_, err = fmt.Fprintf(t.o.Out, "%s %s; %s\n", now.Format(time.TimeOnly), t.numbers(p, l), l.Why.Text)
		}
		return false, err
	}
	text := t.picture(p, l, cols-1, lines-1)
	if t.lines > 0 {
		text = fmt.Sprintf("\x1b[%dA\x1b[J", t.lines) + text
	}
	t.lines = strings.Count(text, "\n")
	_, err = io.WriteString(t.o.Out, text)
	if t.o.Once {
		return true, err
	}
	return false, err
}

// count counts the tasks by state.
func (l *look) count() (n [256]int) {
	for _, s := range []byte(l.States) {
		n[s]++
	}
	return n
}

// numbers are how many tasks do what, and how fast they go.
func (t *top) numbers(p *program, l *look) string {
	n := l.count()
	var rate float64
	first := t.looks[0]
	if first.Program == l.Program && l.At > first.At && len(l.Rounds) > 0 {
		var more int64
		for i := range l.Rounds {
			more += l.Rounds[i] - first.Rounds[i]
		}
		rate = float64(more) / float64(len(l.Rounds)) / float64(l.At-first.At) * 1000
	}
	text := fmt.Sprintf("%d compute, %d wait for data, %d wait for a turn, %d queued, %d idle", n['c'], n['d'], n['t'], n['q'], n['i'])
	if n['x'] > 0 {
		text += fmt.Sprintf(", %d not heard from", n['x'])
	}
	text += fmt.Sprintf("; %.1f rounds a second", rate)
	var done, all int64
	for i, rounds := range p.Rounds {
		done, all = done+min(rounds, l.Rounds[i]), all+rounds
	}
	if all > 0 {
		text += fmt.Sprintf(", %d %% done", 100*done/all)
	}
	if f := l.Life; f != nil && (f.Round > 0 || f.Run > 1) {
		text += fmt.Sprintf("; life %d, the last cut is behind round %d", f.Number, f.Round)
		if f.Run > 1 {
			text += fmt.Sprintf(" of run %d", f.Run)
		}
	}
	return text
}

// symbols are the states in a row of tasks.
var symbols = strings.NewReplacer("c", "█", "d", "▄", "t", "□", "q", "▪", "i", "·", "x", "?")

// picture is a look on a screen: the culprit, the nodes with their tasks, and those that have waited longest.
func (t *top) picture(p *program, l *look, cols, lines int) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, cut(fmt.Sprintf(format, args...), cols)) }
	head := "it moves"
	if l.Why.Stands {
		head = "something stands still"
	}
	add("%s  %s", time.UnixMilli(l.At).Format(time.TimeOnly), head)
	for text := []rune(l.Why.Text); len(text) > 0; {
		n := min(len(text), cols)
		out, text = append(out, string(text[:n])), text[n:]
	}
	add("%s", t.numbers(p, l))
	add("█ computes  ▄ waits for data  □ waits for a turn  ▪ queued  · idle  ? not heard from")
	add("")
	rows := make([][]byte, len(l.Nodes))
	for i, node := range p.Nodes {
		if node < len(rows) {
			rows[node] = append(rows[node], l.States[i])
		}
	}
	for node, n := range l.Nodes {
		if len(out) > lines*2/3 && node < len(l.Nodes)-1 {
			add("... and %d more nodes", len(l.Nodes)-node)
			break
		}
		says := fmt.Sprintf("%d/%d workers", n.Workers-n.Asleep, n.Workers)
		switch {
		case n.Silent > 1000:
			says = "does not answer"
		case n.Starting:
			says = "waits to begin"
		}
		add("node %-3d %-16s %s", node, says, symbols.Replace(string(rows[node])))
	}
	add("")
	for _, w := range t.longest(p, l) {
		if len(out) >= lines {
			break
		}
		add("%s", w)
	}
	return strings.Join(out, "\n") + "\n"
}

// longest are the tasks that wait, those first that have waited longest.
func (t *top) longest(p *program, l *look) (all []string) {
	const width = 5
	var waits [][]int
	for i := 0; i+width <= len(l.Waits); i += width {
		waits = append(waits, l.Waits[i:i+width])
	}
	slices.SortStableFunc(waits, func(a, b []int) int { return cmp.Compare(b[4], a[4]) })
	for _, w := range waits[:min(len(waits), 50)] {
		text := fmt.Sprintf("%s (node %d) ", p.Names[w[0]], p.Nodes[w[0]])
		switch l.States[w[0]] {
		case 'q':
			text += "waits for a worker"
		case 'd':
			text += "waits for data"
		default:
			text += "waits for a turn"
		}
		if w[2] >= 0 {
			text += " at " + p.Resources[w[2]]
		}
		if w[4] > 0 {
			text += fmt.Sprintf(" for %v", (time.Duration(w[4]) * time.Millisecond).Round(100*time.Millisecond))
		}
		if w[1] >= 0 {
			text += " ──▶ " + p.Names[w[1]]
		} else if on := l.On[w[0]]; on != "" {
			text += " ──▶ " + on
		}
		all = append(all, text)
	}
	return all
}

// cut cuts a line at the right margin.
func cut(line string, cols int) string {
	if r := []rune(line); len(r) > cols {
		return string(r[:max(0, cols-1)]) + "…"
	}
	return line
}

// Table is figures at some moment: a row for each lock, or each volume of a hash table. The page shows few rows as lines, and a bar
// for each of many.
type Table struct {
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	Note    string   `json:"note,omitempty"`
}

// Column is a column of a Table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Kind is what the numbers of a column are.
type Kind string

// The values of Kind.
const (
	Number Kind = "number"
	Share  Kind = "share" // of 1
	Bytes  Kind = "bytes"
	Rate   Kind = "rate" // counts: the page shows how many there are in a second
)

// Row is a row of a Table, with a number for each column. No other row of the table has its name.
type Row struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// Tables has the page show tables of this process, once a second while it has a reader. Call it before the page is served. The
// program of the page need not have a runtime.
func (p *Page) Tables(read func(ctx context.Context) []Table) { p.own = read }

// mostRows is how many rows a table has at most.
const mostRows = 1024

// list reads the tables, if their time has come.
func (p *Page) list(run inspect.Run) {
	if time.Since(p.listed) < slowTick {
		return
	}
	p.listed = time.Now()
	var all []Table
	if locks := locksOf(run); len(locks.Rows) > 0 {
		all = append(all, locks)
	}
	if p.own != nil {
		ctx, cancel := context.WithTimeout(context.Background(), slowTick)
		all = append(all, p.own(ctx)...)
		cancel()
	}
	if len(all) == 0 {
		return
	}
	for i := range all {
		all[i].Rows = all[i].Rows[:min(len(all[i].Rows), mostRows)]
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(event{now, 0, render("tables", struct {
		At     int64   `json:"at"`
		Tables []Table `json:"tables"`
	}{now.UnixMilli(), all})})
}

// mostLocks is how many locks the page shows: those that were acquired most often.
const mostLocks = 16

// locksOf are the guards of the run's resources, at their homes.
func locksOf(run inspect.Run) Table {
	t := Table{
		Title:   "Locks of relaxed access",
		Columns: []Column{{"acquired, a second", Rate}, {"waited", Share}, {"handed on nearby", Share}, {"unfairness", Number}},
		Note: "Waited: for a predecessor. Handed on nearby: to another rank of the same element of the machine. " +
			"Unfairness: how much the ranks' acquisitions differ; 0 is fair, and 1 means that they differ by as much as their mean.",
	}
	var all []inspect.ResourceState
	for _, n := range run.Nodes {
		if n.State == nil {
			continue
		}
		for _, r := range n.State.Resources {
			if r.Guard != nil && r.Home == n.Node {
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b inspect.ResourceState) int { return cmp.Compare(b.Guard.Acquired, a.Guard.Acquired) })
	for _, r := range all[:min(len(all), mostLocks)] {
		g := r.Guard
		of := float64(max(1, g.Acquired))
		t.Rows = append(t.Rows, Row{r.Resource + ", " + g.Algorithm, []float64{float64(g.Acquired), float64(g.Waited) / of, float64(g.Near) / of, g.Unfair}})
	}
	return t
}
