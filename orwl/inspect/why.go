package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Why is what the tasks that wait are waiting for, in the end: the culprit if nothing moves.
type Why struct {
	Text string `json:"text"` // all of it, in one line
	// Stands says that the culprit, or everything, has not moved for a second.
	Stands bool `json:"stands"`
	// Node is the culprit's, or the node that is the culprit; -1 if there is none. Task is empty if it is no task.
	Node int    `json:"node"`
	Task string `json:"task,omitempty"`
	// Waiting is how many tasks wait for it. Chain leads from one of them to the culprit: each waits for the next.
	Waiting int      `json:"waiting"`
	Chain   []string `json:"chain,omitempty"`
}

func (w Why) String() string { return w.Text }

const (
	standing = time.Second // then something stands still
	weighed  = 16          // the most vertices whose waiters are all counted: the first to stand still, and then those with most behind them
	longest  = 5           // names in a chain
)

// Why names what most of the waits lead to.
func (r Run) Why() Why {
	_, why := r.Tasks()
	return why
}

func (g *graph) why() Why {
	back := make([][]int, len(g.all))
	for from := range g.all {
		for _, to := range g.all[from].to {
			back[to.vertex] = append(back[to.vertex], from)
		}
	}
	var ends []int
	for i := range g.all {
		if v := &g.all[i]; len(v.to) == 0 && (v.task == nil || v.task.Runs()) {
			ends = append(ends, i)
		}
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Or(cmp.Compare(g.rest(b), g.rest(a)), len(back[b])-len(back[a])) })
	culprit, behind := -1, waiters{}
	for _, end := range ends[:min(len(ends), weighed)] {
		if w := g.behind(back, end); culprit < 0 || w.tasks+w.nodes > behind.tasks+behind.nodes {
			culprit, behind = end, w
		}
	}
	running := 0
	for i := range g.all[:g.tasks] {
		if g.all[i].task.Runs() {
			running++
		}
	}
	still := g.still()
	if circle := g.circle(); circle != nil && still >= standing && (culprit < 0 || behind.tasks < len(circle)) {
		return g.inCircle(circle)
	}
	if culprit < 0 {
		return Why{Text: g.idle(), Node: -1}
	}
	v := &g.all[culprit]
	w := Why{Node: v.node, Waiting: behind.tasks, Stands: max(g.rest(culprit), still) >= standing}
	if v.task != nil {
		w.Task = v.task.Task
	} else if v.is == bytes {
		w.Node = v.from
	}
	var chain []string
	for at := behind.far; ; at = behind.next[at] {
		w.Chain = append(w.Chain, g.plain(at))
		chain = append(chain, g.label(at))
		if at == culprit {
			break
		}
	}
	w.Text = g.accuse(culprit)
	if !w.Stands {
		w.Text = fmt.Sprintf("the tasks move: of %s, %d wait now, most of them for %s", count(running, "task"), g.waiting(), g.label(culprit))
		if behind.tasks == 0 {
			w.Text = fmt.Sprintf("the tasks move: of %s, none waits for another", count(running, "task"))
		}
		return w
	}
	switch {
	case behind.tasks == 1:
		w.Text += "; 1 task waits for it"
	case behind.tasks > 1:
		w.Text += fmt.Sprintf("; %d tasks wait for it", behind.tasks)
	case behind.nodes > 0:
		w.Text += "; " + count(behind.nodes, "node") + " cannot begin before"
	default:
		w.Text += "; no task waits for it"
	}
	if len(chain) > 1 {
		w.Text += ": " + strings.Join(shorten(chain), " ──▶ ")
	}
	return w
}

// waiters are what waits for a vertex.
type waiters struct {
	tasks, nodes int
	far          int   // one of those that have the longest way to it
	next         []int // by vertex: the next one on the way; -1: it does not wait
}

// behind finds what waits for a vertex.
func (g *graph) behind(back [][]int, end int) waiters {
	w := waiters{far: end, next: slices.Repeat([]int{-1}, len(g.all))}
	w.next[end] = end
	queue := []int{end}
	for at := 0; at < len(queue); at++ {
		for _, from := range back[queue[at]] {
			if w.next[from] >= 0 {
				continue
			}
			w.next[from], w.far = queue[at], from
			queue = append(queue, from)
			if from < g.tasks {
				w.tasks++
			} else {
				w.nodes++
			}
		}
	}
	return w
}

// rest is for how long a vertex has been as it is.
func (g *graph) rest(at int) time.Duration {
	v := &g.all[at]
	switch {
	case v.task != nil:
		return v.task.For.Duration
	case v.is == silent:
		return g.run.Nodes[v.node].Silent.Duration
	}
	return 0
}

// still is for how long nothing has moved on the nodes that run.
func (g *graph) still() time.Duration {
	least := time.Duration(-1)
	for _, n := range g.run.Nodes {
		if s := n.State; s != nil && (s.Running || s.Starting) && (least < 0 || s.Still.Duration < least) {
			least = s.Still.Duration
		}
	}
	return max(0, least)
}

// waiting is how many tasks wait.
func (g *graph) waiting() (n int) {
	for i := range g.all[:g.tasks] {
		if s := g.all[i].task.State; s == TaskWaiting || s == TaskQueued {
			n++
		}
	}
	return n
}

// idle says what the nodes do if no task runs.
func (g *graph) idle() string {
	for _, n := range g.run.Nodes {
		if n.State != nil && len(n.State.Tasks) > 0 && n.State.Tasks[0].State == TaskEnded {
			return "no task runs: all have ended"
		}
	}
	return "no task runs: the run has not begun"
}

// circle returns tasks that wait for each other in a circle: each waits for the next one. It is nil if there are none.
func (g *graph) circle() []int {
	state := make([]uint8, len(g.all)) // 1: on the way, 2: no circle behind it
	for begin := range g.all {
		var way []int
		var next []int // by place on the way: the next arc
		for at := begin; state[begin] != 2; {
			if state[at] == 0 {
				state[at] = 1
				way, next = append(way, at), append(next, 0)
			}
			top := len(way) - 1
			if next[top] == len(g.all[at].to) {
				state[at] = 2
				way, next = way[:top], next[:top]
				if top == 0 {
					break
				}
				at = way[top-1]
				continue
			}
			to := g.all[at].to[next[top]].vertex
			next[top]++
			if state[to] == 1 {
				return way[slices.Index(way, to):]
			}
			if state[to] == 0 {
				at = to
			}
		}
	}
	return nil
}

// inCircle accuses a circle.
func (g *graph) inCircle(circle []int) Why {
	w := Why{Stands: true, Node: g.all[circle[0]].node, Waiting: len(circle)}
	var chain []string
	for _, at := range append(circle, circle[0]) {
		w.Chain, chain = append(w.Chain, g.plain(at)), append(chain, g.label(at))
	}
	if t := g.all[circle[0]].task; t != nil {
		w.Task = t.Task
	}
	w.Text = fmt.Sprintf("%s wait for each other in a circle: %s", count(len(circle), "task"), strings.Join(shorten(chain), " ──▶ "))
	return w
}

// accuse says what a vertex does.
func (g *graph) accuse(at int) string {
	v := &g.all[at]
	who := g.nodeName(v.node)
	if t := v.task; t != nil {
		text := fmt.Sprintf("%s: task %s works in round %d", who, t.Task, t.Round)
		if t.Waits != nil {
			text = fmt.Sprintf("%s: task %s waits for %s in round %d", who, t.Task, t.Waits.Resource, t.Round)
		}
		if t.For.Duration > 0 {
			text += fmt.Sprintf(" for %v", brief(t.For))
		}
		if t.At != "" {
			text += ", at " + t.At
		}
		if len(t.Holds) > 0 {
			text += ", and holds " + strings.Join(shorten(t.Holds), ", ")
		}
		return text
	}
	switch v.is {
	case silent:
		text := who + " does not answer"
		if s := g.run.Nodes[v.node]; s.Silent.Duration > 0 {
			text += fmt.Sprintf(" for %v", brief(s.Silent))
		}
		if s := g.run.Nodes[v.node].Status; s != NodeHere && s != "" {
			text += ", and is " + string(s)
		}
		return text
	case unbegun:
		return who + " has not called Run"
	case starting:
		return who + " waits for the other nodes to call Run"
	case bytes:
		return fmt.Sprintf("%s: the bytes of %s are on their way to node %d", g.nodeName(v.from), v.name, v.node)
	}
	return fmt.Sprintf("%s: %s has %s", who, v.name, v.of)
}

// nodeName is a node with its process.
func (g *graph) nodeName(node int) string {
	if g.run.Nodes[node].Process == (Process{}) {
		return fmt.Sprintf("node %d", node)
	}
	if len(g.run.Nodes) == 1 {
		return g.run.Nodes[node].Process.String()
	}
	return fmt.Sprintf("node %d (%v)", node, g.run.Nodes[node].Process)
}

// plain is a vertex in a chain.
func (g *graph) plain(at int) string {
	v := &g.all[at]
	switch {
	case v.task != nil:
		return v.task.Task
	case v.is == bytes:
		return "the bytes of " + v.name
	case v.is == outside:
		return v.name
	}
	return fmt.Sprintf("node %d", v.node)
}

// label is plain with the node, if the run has several.
func (g *graph) label(at int) string {
	if v := &g.all[at]; len(g.run.Nodes) > 1 && (v.task != nil || v.is == outside) {
		return fmt.Sprintf("%s (node %d)", g.plain(at), v.node)
	}
	return g.plain(at)
}

// shorten leaves out the middle of a long list.
func shorten(names []string) []string {
	if len(names) <= longest {
		return names
	}
	left := len(names) - longest + 1
	return slices.Concat(names[:longest/2], []string{fmt.Sprintf("(%d more)", left)}, names[longest/2+left:])
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
