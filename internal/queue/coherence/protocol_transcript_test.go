package coherence

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A transcript is blocks: commands, a line of dashes, and their effects. The home is a,
// its mirrors are b, c and d.
//
//	start size=8 mirrors=2    first of all
//	b request 1 write         a place of b requests
//	b release 1               also fence=3, size=16, wrote 0:text 8:text
//	b renew 1 2 write         and what release takes
//	b cancel 1
//	b confirm                 b asks whether its last write is committed
//	from b, to b              the oldest message on the link arrives
//	again from b, again to b  the message that arrived last arrives again
//	drop from b, drop to b    the oldest message is gone
//	forge from b fence=3      the oldest message is changed
//	settle                    everything arrives
//	lost b                    the home loses b
//	b lost                    b loses the home
//	b rejoin, b restart       a new life, with and without the memory; also epoch=2
//	bytes b                   what b's memory holds
func TestProtocolTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/protocol/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := new(theatre).play(t, string(text))
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
	*protocol
	out     strings.Builder
	fences  map[[2]uint64]uint64 // of a node's request
	last    map[string]Message   // the last message that arrived, by link
	options MirrorOptions
}

func (w *theatre) play(t *testing.T, text string) string {
	w.fences, w.last = make(map[[2]uint64]uint64), make(map[string]Message)
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, _, _ := strings.Cut(block, "----")
		if i > 0 {
			w.out.WriteByte('\n')
		}
		fmt.Fprintf(&w.out, "%s\n----\n", strings.TrimSpace(commands))
		for line := range strings.Lines(commands) {
			line, _, _ = strings.Cut(line, "#")
			if words := strings.Fields(line); len(words) > 0 {
				if err := w.do(words); err != nil {
					w.say("error: %v", err)
				}
			}
		}
	}
	if w.protocol == nil {
		t.Fatal("nothing was played")
	}
	return w.out.String()
}

func (w *theatre) say(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// node is the node of a name.
func node(name string) Node { return Node(name[0] - 'a') }

// called is the name of a node.
func called(n Node) string { return string(rune('a' + n)) }

// do plays one line.
func (w *theatre) do(words []string) error {
	switch words[0] {
	case "start":
		w.start(newArgs(words[1:]))
	case "settle":
		for w.arrive() {
		}
	case "from", "to":
		return w.deliver(words[0], words[1], false)
	case "again":
		return w.deliver(words[1], words[2], true)
	case "drop":
		w.take(words[1], words[2])
	case "forge":
		n := w.nodes[node(words[2])]
		link := n.toHome
		if words[1] == "to" {
			link = n.toMirror
		}
		a := newArgs(words[3:])
		link[0].Fence = uint64(a.number("fence", int(link[0].Fence)))
		link[0].Resource = uint64(a.number("resource", int(link[0].Resource)))
		link[0].Size = a.number("size", link[0].Size)
		link[0].ID = ID(a.number("id", int(link[0].ID)))
	case "lost":
		w.loses(node(words[1]))
	case "bytes":
		w.say("%s: %q", words[1], w.memoryOf(node(words[1])).Bytes())
	default:
		return w.act(node(words[0]), words[1], words[2:])
	}
	return nil
}

func (w *theatre) start(a args) {
	w.protocol = newProtocol(a.number("size", 0), a.number("mirrors", 1), new(Ledger), w.options)
	w.options.Resource, w.options.Limit, w.options.Incarnation = 7, 1<<10, 1
	w.sent = func(m *Message, toHome bool) {
		from, to := "a", called(m.Node)
		if toHome {
			from, to = to, from
		}
		w.say("%s>%s %v%s", from, to, m, quoted(m.Bytes))
	}
	w.granted = func(n Node, id ID, s Stamp) {
		w.fences[[2]uint64{uint64(n), uint64(id)}] = s.Fence
		if s.Err() != nil {
			w.say("%s: %d is told: %v", called(n), id, s.Err())
		}
		w.say("%s: %d has v%d%s", called(n), id, s.Version, quoted(w.memoryOf(n).Bytes()))
	}
	w.ended = func(n Node, id ID, err error) { w.say("%s: %d is over: %v", called(n), id, err) }
	w.lost = func(n Node, err error) { w.say("%s: its last write may be lost: %v", called(n), err) }
}

func quoted(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return fmt.Sprintf(" %q", strings.TrimRight(string(b), "\x00"))
}

func (w *theatre) memoryOf(n Node) *Buffer {
	if n == 0 {
		return w.buffer
	}
	return w.nodes[n].buffer
}

// arrive delivers all messages that are under way now, and reports whether there were
// any.
func (w *theatre) arrive() (any bool) {
	for _, n := range w.nodes[1:] {
		for range len(n.toHome) {
			any = true
			if err := w.deliver("from", called(n.node), false); err != nil {
				w.say("error: %v", err)
			}
		}
		for range len(n.toMirror) {
			any = true
			if err := w.deliver("to", called(n.node), false); err != nil {
				w.say("error: %v", err)
			}
		}
	}
	return any
}

// take takes the oldest message from a link.
func (w *theatre) take(direction, name string) Message {
	n := w.nodes[node(name)]
	link := &n.toHome
	if direction == "to" {
		link = &n.toMirror
	}
	if len(*link) == 0 {
		panic(violation("nothing is under way %s %s", direction, name))
	}
	m := (*link)[0]
	*link = (*link)[1:]
	return m
}

func (w *theatre) deliver(direction, name string, again bool) error {
	m := w.last[direction+name]
	if !again {
		m = w.take(direction, name)
		w.last[direction+name] = m
	}
	if direction == "to" {
		return w.toMirror(&m)
	}
	return w.toHome(&m)
}

// act is a step of a node.
func (w *theatre) act(n Node, verb string, words []string) error {
	a := newArgs(words)
	ids := a.ids
	var ending Access
	if verb == "release" || verb == "renew" {
		ending = w.ending(n, ids[0], a)
	}
	if n == 0 {
		w.locally(func() { w.actHome(verb, ids, ending, a) })
		return nil
	}
	return w.atMirror(w.nodes[n], func(out *Work) error { return w.actMirror(n, verb, ids, ending, a, out) })
}

// actMirror is a step of a mirror's node.
func (w *theatre) actMirror(n Node, verb string, ids []ID, ending Access, a args, out *Work) error {
	r := w.nodes[n].mirror
	switch verb {
	case "request":
		return r.Request(ids[0], a.mode, nil, out)
	case "release":
		return r.Release(ending, out)
	case "renew":
		return r.Renew(ending, ids[1], a.mode, nil, out)
	case "cancel":
		return r.Cancel(ids[0], out)
	case "confirm":
		r.Confirm(out)
	case "lost":
		r.Lost(nil, out)
	case "rejoin", "restart":
		w.options.Node = n
		w.options.Incarnation = r.o.Incarnation + 1
		if verb == "rejoin" {
			return r.Rejoin(w.options.Incarnation)
		}
		w.restart(w.nodes[n], w.options)
	default:
		return fmt.Errorf("no command %s", verb)
	}
	return nil
}

// actHome is a step of a place of the home's own node.
func (w *theatre) actHome(verb string, ids []ID, ending Access, a args) {
	if ending.Wrote {
		w.ledger.Commit()
	}
	switch verb {
	case "request":
		w.queue.request(ids[0], a.mode)
	case "release":
		w.queue.release(ids[0])
	case "renew":
		w.queue.renew(ids[0], ids[1], a.mode)
	case "cancel":
		w.queue.cancel(ids[0])
	}
}

// ending writes what the step says, and describes the access for its release.
func (w *theatre) ending(n Node, id ID, a args) Access {
	memory := w.memoryOf(n)
	end := Access{ID: id, Fence: w.fences[[2]uint64{uint64(n), uint64(id)}], Wrote: a.wrote}
	end.Fence = uint64(a.number("fence", int(end.Fence)))
	if size := a.number("size", len(memory.Bytes())); size != len(memory.Bytes()) {
		_ = memory.Resize(size)
	}
	for _, s := range a.spans {
		off, text, _ := strings.Cut(s, ":")
		at, _ := strconv.Atoi(off)
		if at <= len(memory.Bytes()) {
			copy(memory.Bytes()[at:], text)
		}
	}
	return end
}

// args are the arguments of a command.
type args struct {
	named map[string]string // name=value
	ids   []ID
	mode  Mode
	wrote bool
	spans []string // offset:text
}

func newArgs(words []string) args {
	a := args{named: make(map[string]string)}
	for _, word := range words {
		name, value, named := strings.Cut(word, "=")
		id, err := strconv.Atoi(word)
		switch {
		case named:
			a.named[name] = value
		case err == nil:
			a.ids = append(a.ids, ID(id))
		case word == "write":
			a.mode = Write
		case word == "wrote":
			a.wrote = true
		case strings.Contains(word, ":"):
			a.spans = append(a.spans, word)
		}
	}
	return a
}

// number is the number with that name, or otherwise.
func (a args) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(a.named[name]); err == nil {
		return n
	}
	return otherwise
}

var rewrite = flag.Bool("coherence.rewrite", false, "write the transcripts anew")
