package versions

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

var rewrite = flag.Bool("versions.rewrite", false, "write the transcripts anew")

// A transcript is blocks: commands, a line of dashes, and their effects. It plays programs of one resource.
//
//	run W0@1 R1@0 home=2 rounds=3   a program begins: the accesses in their start order, each with its task and its node;
//	                                also size=16, zero
//	begin                           the home sends the first version
//	task 0: 4:text                  task 0 does its next round, and changes bytes; also size=24
//	body 0 4:text                   task 0 is in its next round, and has changed bytes so far
//	task 0 rests 4:text             its last round, empty turns follow; or ends, or ends without a round: end 0, rest 0
//	pass 1>0                        what waits on node 1 for node 0 leaves as one message
//	arrive 1>0                      the oldest message arrives; arrive 1>0 2: the second one
//	settle                          all leaves and arrives; settle quietly: nothing is said
//	forge 1>0: 9 [3 0 0 ...] text   node 0 takes a message by hand
//	bytes 2                         the copy of node 2
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := new(theatre).play(string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// theatre plays a transcript.
type theatre struct {
	out    strings.Builder
	plan   *plan.Plan
	nodes  []*Node
	copies []*words
	node   []int    // by task
	round  []uint32 // by task
	lanes  map[[2]int][]message
}

func (w *theatre) say(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

func (w *theatre) play(text string) string {
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, _, _ := strings.Cut(block, "----")
		if i > 0 {
			w.out.WriteByte('\n')
		}
		fmt.Fprintf(&w.out, "%s\n----\n", strings.TrimSpace(commands))
		for line := range strings.Lines(commands) {
			line, _, _ = strings.Cut(line, "#")
			if words := strings.Fields(line); len(words) > 0 {
				w.do(words)
			}
		}
	}
	return w.out.String()
}

// number is a number in a transcript.
func number(text string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(text, ":"))
	if err != nil {
		panic(err)
	}
	return n
}

// lane are the nodes of "1>0".
func lane(text string) [2]int {
	from, to, _ := strings.Cut(strings.TrimSuffix(text, ":"), ">")
	return [2]int{number(from), number(to)}
}

func (w *theatre) do(words []string) {
	switch words[0] {
	case "run":
		w.run(words[1:])
	case "begin":
		for x, n := range w.nodes {
			w.work(x, func(work *Work) error { n.Begin(work); return nil })
		}
	case "task":
		w.task(number(words[1]), words[2:])
	case "body":
		at, text, _ := strings.Cut(words[2], ":")
		copy(w.copies[w.node[number(words[1])]].b[number(at):], text)
	case "end", "rest":
		t, state := number(words[1]), Ended
		if words[0] == "rest" {
			state = Rests
		}
		w.work(w.node[t], func(work *Work) error { w.nodes[w.node[t]].Ends(w.plan.Counter(t, 0), state, work); return nil })
	case "pass":
		w.pass(lane(words[1]))
	case "arrive":
		at := 1
		if len(words) > 2 {
			at = number(words[2])
		}
		w.arrive(lane(words[1]), at-1, true)
	case "settle":
		w.settle(len(words) == 1)
	case "forge":
		w.forge(lane(words[1]), strings.Join(words[2:], " "))
	case "bytes":
		x := number(words[1])
		w.say("%d: %s, version %v%s", x, text(w.copies[x].b), w.nodes[x].resources[0].version, map[bool]string{true: ", over"}[w.nodes[x].Over()])
	default:
		panic(words[0])
	}
}

// text is bytes, with dots for zero.
func text(b []byte) string { return strings.ReplaceAll(string(b), "\x00", ".") }

func (w *theatre) run(args []string) {
	var s liveness.System
	var tasks []plan.Task
	w.nodes, w.copies, w.node = nil, nil, nil
	home, size, rounds, zero, nodes := 0, 16, 5, false, 1
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "home":
			home = number(value)
		case "size":
			size = number(value)
		case "rounds":
			rounds = number(value)
		case "zero":
			zero = true
		default:
			t, x, _ := strings.Cut(a[1:], "@")
			mode := modes.Read
			if a[0] == 'W' {
				mode = modes.Write
			}
			if number(t) != len(tasks) {
				panic("the tasks stand in their order: " + a)
			}
			s.Tasks = append(s.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: "r", Mode: mode}}})
			w.node = append(w.node, number(x))
			tasks = append(tasks, plan.Task{Node: number(x)})
		}
		nodes = max(nodes, home+1)
	}
	for t := range tasks {
		tasks[t].Rounds = rounds
		nodes = max(nodes, tasks[t].Node+1)
	}
	w.round, w.lanes = make([]uint32, len(tasks)), make(map[[2]int][]message)
	w.plan = plan.OfSystemOnNodes(s, tasks, map[string]int{"r": home})
	for x := range nodes {
		m := &words{make([]byte, size)}
		switch {
		case x != home:
			copy(m.b, strings.Repeat("?", size))
		case !zero:
			copy(m.b, "0123456789abcdefghijklmnopqrstuvwxyz")
		}
		n, err := New(Options{Run: 9, Node: x, Nodes: nodes, Plan: w.plan, Copies: []Copy{{m, zero && x == home}}})
		if err != nil {
			panic(err)
		}
		w.nodes, w.copies = append(w.nodes, n), append(w.copies, m)
	}
}

// work says which work a call has left.
func (w *theatre) work(x int, call func(*Work) error) {
	var work Work
	if err := call(&work); err != nil {
		w.say("%d: error: %v", x, err)
		return
	}
	for _, p := range work.Publish {
		round := fmt.Sprint(p.Round)
		if p.Round == plan.Ended {
			round = "ended"
		}
		w.say("%d: counter %d: %s", x, p.Counter, round)
	}
	slices.Sort(work.Nodes)
	for _, to := range work.Nodes {
		w.say("%d: something waits for %d", x, to)
	}
}

// task does a round of a task.
func (w *theatre) task(t int, args []string) {
	x, state := w.node[t], Goes
	m := w.copies[x]
	var changed []Span
	for _, a := range args {
		key, value, found := strings.Cut(a, ":")
		size, resized := strings.CutPrefix(a, "size=")
		switch {
		case a == "rests":
			state = Rests
		case a == "ends":
			state = Ended
		case resized:
			_ = m.Resize(number(size))
		case found:
			at := number(key)
			changed = append(changed, Span{at, copy(m.b[at:], value)})
		}
	}
	w.round[t]++
	w.work(x, func(work *Work) error {
		return w.nodes[x].Released(w.plan.Counter(t, 0), w.round[t], changed, state, work)
	})
}

func (w *theatre) pass(l [2]int) (some bool) {
	header, bulk, ok := w.nodes[l[0]].Pass(l[1], nil, nil)
	if !ok {
		w.say("%d>%d: nothing waits", l[0], l[1])
		return false
	}
	w.say("%d>%d: %s", l[0], l[1], w.read(header, bulk))
	w.lanes[l] = append(w.lanes[l], message{l[0], l[1], header, bulk})
	return true
}

func (w *theatre) arrive(l [2]int, at int, aloud bool) {
	m := w.lanes[l][at]
	w.lanes[l] = slices.Delete(w.lanes[l], at, at+1)
	if !aloud {
		if err := w.nodes[m.to].Take(m.from, m.header, m.bulk, new(Work)); err != nil {
			panic(err)
		}
		return
	}
	w.work(m.to, func(work *Work) error { return w.nodes[m.to].Take(m.from, m.header, m.bulk, work) })
}

// settle has all arrive.
func (w *theatre) settle(aloud bool) {
	for again := true; again; {
		again = false
		for from, n := range w.nodes {
			for to := range w.nodes {
				l := [2]int{from, to}
				for n.boxes[to].named {
					if aloud {
						w.pass(l)
					} else if header, bulk, ok := n.Pass(to, nil, nil); ok {
						w.lanes[l] = append(w.lanes[l], message{from, to, header, bulk})
					}
				}
				for len(w.lanes[l]) > 0 {
					w.arrive(l, 0, aloud)
					again = true
				}
			}
		}
	}
}

// forge has a node take a message by hand: the run, its entries, and its bytes.
func (w *theatre) forge(l [2]int, text string) {
	run, rest, _ := strings.Cut(text, " ")
	var entries []fields
	for strings.HasPrefix(rest, "[") {
		var list string
		list, rest, _ = strings.Cut(rest[1:], "]")
		var e fields
		for _, f := range strings.Fields(list) {
			e = append(e, uint64(number(f)))
		}
		entries, rest = append(entries, e), strings.TrimSpace(rest)
	}
	w.work(l[1], func(work *Work) error {
		return w.nodes[l[1]].Take(l[0], header(uint64(number(run)), entries...), []byte(rest), work)
	})
}

// read is a message in words.
func (w *theatre) read(header, bulk []byte) string {
	r := wire.NewReader(header)
	n := r.Array() - 1
	all := []string{fmt.Sprintf("run %d", r.Uint())}
	for range n {
		count := r.Array()
		switch r.Uint() {
		case creditEntry:
			c, k, ended := r.Uint(), r.Uint(), r.Bool()
			all = append(all, fmt.Sprintf("credit of counter %d, round %d%s", c, k, map[bool]string{true: ", ended"}[ended]))
		case takenEntry:
			_, v := r.Uint(), version(uint32(r.Uint()), uint32(r.Uint()))
			all = append(all, fmt.Sprintf("version %v is here", v))
		case versionEntry:
			r.Uint()
			bits, base := r.Uint(), version(uint32(r.Uint()), uint32(r.Uint()))
			size, reports := r.Uint(), int(r.Uint())
			s := fmt.Sprintf("after %v, %d bytes:", base, size)
			for range reports {
				p, k, state := r.Uint(), r.Uint(), State(r.Uint())
				s += fmt.Sprintf(" version %d.%d%s,", k, p, map[State]string{Rests: " rests", Ended: " ended"}[state])
			}
			for range (count - 7 - 3*reports) / 2 {
				off, n := r.Uint(), r.Uint()
				s += fmt.Sprintf(" %d:%s,", off, text(bulk[:n]))
				bulk = bulk[n:]
			}
			s = strings.TrimRight(s, ",:")
			if bits&sameBit != 0 {
				s += ", no new one"
			}
			if bits&asksBit != 0 {
				s += ", please answer"
			}
			all = append(all, s)
		}
	}
	if err := r.Done(); err != nil || len(bulk) > 0 || n == 0 {
		panic(fmt.Sprint(err, len(bulk), n))
	}
	return strings.Join(all, "; ")
}
