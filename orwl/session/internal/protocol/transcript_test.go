package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A transcript has blocks: what goes into a home, four dashes, and what comes out. A line is
//
//	TIME CONNECTION MESSAGE [taken=N]
//
// and a client has taken everything if taken is not given. The lease is 1000 and the skew 200:
// a session ends 1200 after it was heard last.

// TestTranscripts plays every file of testdata. -session.rewrite writes them anew.
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
			got := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// play plays the inputs of a transcript, and returns it with what comes out.
func play(t *testing.T, text string) string {
	p := &player{t: t, queue: newFIFO(), said: make(map[uint64]uint64), of: make(map[uint64]string), heard: make(map[string]uint64), numbers: make(map[string]uint64)}
	p.home = NewHome(Lease{Lease: 1000, Skew: 200}, p.queue)
	var b strings.Builder
	inputs := true
	for line := range strings.Lines(text) {
		switch {
		case line == "----\n":
			inputs = false
			b.WriteString(line)
			b.WriteString(p.output())
		case line == "\n":
			inputs = true
			b.WriteString(line)
		case strings.HasPrefix(line, "#"):
			b.WriteString(line)
		case inputs:
			b.WriteString(line)
			p.input(strings.TrimSpace(line))
		}
	}
	return b.String()
}

type player struct {
	t       *testing.T
	home    *Home
	queue   *fifo
	out     strings.Builder
	said    map[uint64]uint64
	of      map[uint64]string // the session of a connection
	heard   map[string]uint64 // by session
	numbers map[string]uint64
}

// input is one line.
func (p *player) input(line string) {
	var now int64
	var conn uint64
	fields := strings.Fields(line)
	if _, err := fmt.Sscan(line, &now); err != nil || len(fields) < 2 {
		p.t.Fatalf("%q: want a time and more", line)
	}
	switch fields[1] {
	case "tick":
		fmt.Fprintf(&p.out, "next %d\n", p.home.Tick(now))
		p.drain(now)
		return
	case "left":
		fmt.Sscan(fields[2], &conn)
		p.home.Left(conn)
		return
	}
	fmt.Sscan(fields[1], &conn)
	m := p.message(conn, fields[2:])
	if m.check() != nil {
		p.t.Fatalf("%q: %v", line, m.check())
	}
	p.home.Take(now, conn, m)
	p.drain(now)
}

// message is what a client says by some words.
func (p *player) message(conn uint64, words []string) Message {
	m := Message{Version: Version}
	number := func(word string) (n uint64) { fmt.Sscan(word, &n); return n }
	if words[0] == "hello" {
		p.of[conn] = words[1]
		id := []byte(fmt.Sprintf("%016s", words[1]))
		m.Hello = &Hello{ID: id, Who: words[1], Known: len(words) > 2 && words[2] == "again", Sent: 1}
	}
	s := p.of[conn]
	m.Taken = p.heard[s]
	if last := words[len(words)-1]; strings.HasPrefix(last, "taken=") {
		m.Taken = number(last[len("taken="):])
		words = words[:len(words)-1]
	}
	if last := words[len(words)-1]; strings.HasPrefix(last, "number=") {
		m.Number = number(last[len("number="):])
		words = words[:len(words)-1]
	}
	grip := func() *Grip { return &Grip{number(words[1]), number(words[2])} }
	numbered := true
	switch words[0] {
	case "hello":
		numbered = false
	case "beat":
		m.Beat, numbered = &Beat{Sent: int64(number(words[1]))}, false
	case "bye":
		m.Bye, numbered = &Bye{}, false
	case "request":
		m.Request = &Request{Name: words[1], Read: len(words) > 2 && words[2] == "read"}
	case "withdraw":
		m.Withdraw = &Withdraw{number(words[1])}
	case "release":
		m.Release = grip()
	case "read":
		m.Read = grip()
	case "write":
		m.Write = &Write{number(words[1]), number(words[2]), []byte(words[3])}
	case "list":
		m.List = &List{Prefix: strings.Join(words[1:], "")}
	case "watch":
		m.Watch = &Watch{words[1], number(words[2])}
	case "revoke":
		m.Revoke = &Revoke{words[1], number(words[2])}
	case "granted":
		m.Granted = &Granted{}
	default:
		p.t.Fatalf("%q: no such message", words)
	}
	if numbered && m.Number == 0 {
		p.numbers[s]++
		m.Number = p.numbers[s]
	}
	return m
}

// drain hands grants on, and prints what the home says.
func (p *player) drain(now int64) {
	for len(p.queue.due) > 0 {
		d := p.queue.due[0]
		p.queue.due = p.queue.due[1:]
		p.home.Granted(now, d.id, d.grant)
	}
	for _, o := range p.home.Out() {
		s := p.of[o.Conn]
		p.heard[s] = max(p.heard[s], o.Message.Number)
		fmt.Fprintf(&p.out, "%d %s", o.Conn, s)
		if text := print(o.Message); text != "" {
			fmt.Fprintf(&p.out, " %s", text)
		}
		if o.Last {
			p.out.WriteString(" | closed")
		}
		p.out.WriteString("\n")
	}
}

func (p *player) output() string {
	text := p.out.String()
	p.out.Reset()
	return text
}

// print is a message of a home in words.
func print(m Message) string {
	var b strings.Builder
	if m.Number > 0 {
		fmt.Fprintf(&b, "%d: ", m.Number)
	}
	switch {
	case m.Admission != nil:
		fmt.Fprintf(&b, "admission, session %d", m.Admission.Session)
	case m.Echo != nil:
		fmt.Fprintf(&b, "echo %d", m.Echo.Sent)
	case m.Granted != nil:
		g := m.Granted.Grant
		fmt.Fprintf(&b, "granted %d, fence %d, version %d", m.Granted.Request, g.Fence, g.Version)
		if g.Lost {
			b.WriteString(", prior lost")
		}
	case m.Revoked != nil:
		fmt.Fprintf(&b, "revoked %d: %s", m.Revoked.Request, m.Revoked.Why)
	case m.Lost != nil:
		fmt.Fprintf(&b, "lost %d: %s", m.Lost.Request, m.Lost.Why)
	case m.Bye != nil:
		fmt.Fprintf(&b, "bye: %s", m.Bye.Why)
	case m.Answer != nil:
		a := m.Answer
		fmt.Fprintf(&b, "answer to %d", a.Call)
		if a.Code != OK {
			fmt.Fprintf(&b, ", code %d %s", a.Code, a.Why)
		}
		if a.Bytes != nil {
			fmt.Fprintf(&b, ", bytes %q", a.Bytes)
		}
		if a.Count > 0 {
			fmt.Fprintf(&b, ", count %d", a.Count)
		}
		for _, s := range a.States {
			fmt.Fprintf(&b, ", %q stamp %d", s.Name, s.Stamp)
			for _, r := range s.Requests {
				fmt.Fprintf(&b, " [%s read %t held %t revoked %t fence %d for %d]", r.Who, r.Read, r.Held, r.Revoked, r.Fence, r.For)
			}
		}
	}
	return b.String()
}
