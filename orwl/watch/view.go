package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// program is what a page is told once: the tasks of all nodes, by node.
type program struct {
	ID        int      `json:"id"`
	Names     []string `json:"names"`
	Nodes     []int    `json:"nodes"`
	Rounds    []int64  `json:"rounds"` // 0: unknown
	Resources []string `json:"resources"`
	Every     int      `json:"every"` // one of so many tasks is shown
}

// look is the run at one moment. It names tasks by their numbers in a program.
type look struct {
	At      int64        `json:"at"` // milliseconds since 1970
	Program int          `json:"program"`
	From    int          `json:"from"`
	Why     inspect.Why  `json:"why"`
	Nodes   []lookedNode `json:"nodes"`
	// States has a letter for each task: see letters.
	States string  `json:"states"`
	Rounds []int64 `json:"rounds"`
	// Waits has five numbers for each task that waits: the task, the one that it waits for or -1, the resource or -1, 1 if it
	// will write, and for how many milliseconds that has been so.
	Waits []int `json:"waits"`
	// Works has two numbers for each task that has not moved for a while: the task, and milliseconds.
	Works []int          `json:"works"`
	On    map[int]string `json:"on,omitempty"` // a task waits for this, which is no task
	Where map[int]string `json:"where,omitempty"`
	Sent  [][]uint64     `json:"sent,omitempty"`  // bytes, from and to
	Life  *inspect.Life  `json:"life,omitempty"`  // seen by the node that has asked
	Grids []inspect.Grid `json:"grids,omitempty"` // of all nodes together
}

// lookedNode is a node in a look.
type lookedNode struct {
	Process  string             `json:"process"`
	Status   inspect.NodeStatus `json:"status"`
	Silent   int64              `json:"silent"` // milliseconds
	Running  bool               `json:"running"`
	Starting bool               `json:"starting"`
	Workers  int                `json:"workers"`
	Asleep   int                `json:"asleep"`
	Taken    uint64             `json:"taken"`
}

// letters are the states of tasks in a look.
var letters = map[inspect.Activity]byte{
	inspect.Computes: 'c', inspect.ForBytes: 'd', inspect.ForTurn: 't', inspect.Queued: 'q', inspect.Idle: 'i', inspect.Unknown: 'x',
}

// mostTasks is how many tasks a look has at most.
const mostTasks = 20_000

// viewer makes looks. A program keeps its number as long as its tasks do not change.
type viewer struct {
	program   program
	tasks     map[string]int
	resources map[string]int
}

// view makes a look. It reports whether the program has changed.
func (v *viewer) view(run inspect.Run) (l look, changed bool) {
	all, why := run.Tasks()
	all = v.keepSilent(run, all)
	every := (len(all) + mostTasks - 1) / mostTasks
	kept := make([]int, 0, len(all)) // places in all
	for i := 0; i < len(all); i += max(1, every) {
		kept = append(kept, i)
	}
	changed = v.follow(all, kept, max(1, every))
	l = look{
		At: run.Now.UnixMilli(), Program: v.program.ID, From: run.From, Why: why,
		Rounds: make([]int64, len(kept)), Waits: []int{}, Works: []int{}, On: make(map[int]string), Where: make(map[int]string),
	}
	states := make([]byte, len(kept))
	for i, at := range kept {
		t := &all[at]
		states[i], l.Rounds[i] = letters[t.Is], t.Round
		ms := int(t.For.Milliseconds())
		switch t.Is {
		case inspect.ForBytes, inspect.ForTurn, inspect.Queued:
			behind, resource, write := -1, -1, 0
			if t.Behind >= 0 {
				name := all[t.Behind].Task
				if number, shown := v.tasks[name]; shown {
					behind = number
				} else {
					l.On[i] = name
				}
			} else if t.On != "" {
				l.On[i] = t.On
			}
			if w := t.Waits; w != nil {
				resource, changed = v.resource(w.Resource, changed)
				ms = int(w.For.Milliseconds())
				if w.Mode == "write" {
					write = 1
				}
			}
			l.Waits = append(l.Waits, i, behind, resource, write, ms)
		case inspect.Computes:
			if ms > 0 {
				l.Works = append(l.Works, i, ms)
			}
		}
		if t.At != "" {
			l.Where[i] = t.At
		}
	}
	l.States = string(states)
	for _, n := range run.Nodes {
		seen := lookedNode{Process: n.Process.String(), Status: n.Status, Silent: n.Silent.Milliseconds()}
		var sent []uint64
		if s := n.State; s != nil {
			seen.Running, seen.Starting, sent = s.Running, s.Starting, s.Sent
			l.Grids = inspect.AddGrids(l.Grids, s.Grids)
			if n.Node == run.From {
				l.Life = s.Life
			}
			if s.Workers != nil {
				seen.Workers, seen.Asleep, seen.Taken = s.Workers.All, s.Workers.Asleep, s.Workers.Taken
			}
		}
		l.Nodes = append(l.Nodes, seen)
		if len(run.Nodes) > 1 {
			l.Sent = append(l.Sent, sent)
		}
	}
	return l, changed
}

// keepSilent adds the tasks of nodes that do not answer, as they were known before.
func (v *viewer) keepSilent(run inspect.Run, all []inspect.RunTask) []inspect.RunTask {
	for i, name := range v.program.Names {
		node := v.program.Nodes[i]
		if node >= len(run.Nodes) || run.Nodes[node].State != nil && !run.Nodes[node].State.Starting {
			continue
		}
		t := inspect.RunTask{TaskState: inspect.TaskState{Task: name, Node: node, Rounds: v.program.Rounds[i]}, Is: inspect.Unknown, Behind: -1}
		all = append(all, t)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return all[a].Node - all[b].Node })
	sorted, at := make([]inspect.RunTask, len(all)), make([]int, len(all))
	for i, from := range order {
		sorted[i], at[from] = all[from], i
	}
	for i := range sorted {
		if b := sorted[i].Behind; b >= 0 {
			sorted[i].Behind = at[b]
		}
	}
	return sorted
}

// follow has the program describe some tasks. It reports whether it has changed.
func (v *viewer) follow(all []inspect.RunTask, kept []int, every int) (changed bool) {
	p := &v.program
	same := len(kept) == len(p.Names)
	for i := 0; same && i < len(kept); i++ {
		t := &all[kept[i]]
		same = t.Task == p.Names[i] && t.Node == p.Nodes[i]
	}
	if same && p.ID > 0 {
		return false
	}
	*p = program{ID: p.ID + 1, Every: every, Resources: []string{}, Names: []string{}, Nodes: []int{}, Rounds: []int64{}}
	v.tasks, v.resources = make(map[string]int), make(map[string]int)
	for i, at := range kept {
		t := &all[at]
		p.Names, p.Nodes, p.Rounds = append(p.Names, t.Task), append(p.Nodes, t.Node), append(p.Rounds, t.Rounds)
		v.tasks[t.Task] = i
	}
	return true
}

// resource is the number of a resource. A new one changes the program.
func (v *viewer) resource(name string, changed bool) (number int, now bool) {
	number, known := v.resources[name]
	if !known {
		number = len(v.program.Resources)
		v.resources[name] = number
		v.program.Resources = append(slices.Clip(v.program.Resources), name)
		changed = true
	}
	return number, changed
}

// Picture is a picture of a program's data at some moment.
type Picture struct {
	Title string `json:"title"`
	PNG   []byte `json:"png"`
	Done  int64  `json:"done"` // sweeps, of Total
	Total int64  `json:"total"`
}

// painters are by runtime.
var painters sync.Map

// Show has the page of a runtime show a picture, once a second while it has a reader. Package show calls it for a grid.
func Show(rt *orwl.Runtime, paint func(ctx context.Context) (Picture, error)) (stop func()) {
	painters.Store(rt, paint)
	return func() { painters.Delete(rt) }
}

// painting is a Picture as a page is told it.
type painting struct {
	At int64 `json:"at"`
	Picture
}

// paint has the picture painted, if its time has come. A painting may wait for a task.
func (p *Page) paint(rt *orwl.Runtime) {
	found, _ := painters.Load(rt)
	paint, is := found.(func(ctx context.Context) (Picture, error))
	p.mu.Lock()
	defer p.mu.Unlock()
	if !is || p.painting || time.Since(p.painted) < slowTick {
		return
	}
	p.painting, p.painted = true, time.Now()
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-p.over:
				cancel()
			case <-done:
			}
		}()
		began := time.Now()
		picture, err := paint(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.painting = false
		p.painted = p.painted.Add((share - 1) * time.Since(began))
		if err == nil {
			p.keep(event{time.Now(), 0, render("picture", painting{time.Now().UnixMilli(), picture})})
		}
	}()
}
