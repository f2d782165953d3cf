package resp

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/freeport"
)

var rewrite = flag.Bool("rewrite", false, "write the replies of the transcripts anew")

// A transcript is a conversation with an empty server:
//
//	# a comment
//	> SET key "a value"
//	< "+OK\r\n"
//	> GET nothing
//	2< "$-1\r\n"
//	3< "_\r\n"
//
// with one line for the reply, or one for each protocol where they differ.
type transcript struct {
	path  string
	lines []exchange
}

type exchange struct {
	comments []string
	command  string
	want     [2]string // in RESP2 and RESP3
}

func readTranscripts(t *testing.T, folder string) (all []transcript) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcript in %s: %v", folder, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, transcript{path, exchanges(t, path, string(text))})
	}
	return all
}

func exchanges(t *testing.T, path, text string) (all []exchange) {
	t.Helper()
	var comments []string
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "", "#":
			comments = append(comments, line)
			continue
		case ">":
			all = append(all, exchange{comments: comments, command: rest})
			comments = nil
			continue
		}
		reply, err := strconv.Unquote(rest)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s:%d: not a reply: %s", path, i+1, line)
		}
		e := &all[len(all)-1]
		switch mark {
		case "<":
			e.want = [2]string{reply, reply}
		case "2<":
			e.want[0] = reply
		case "3<":
			e.want[1] = reply
		default:
			t.Fatalf("%s:%d: want >, <, 2<, 3< or #", path, i+1)
		}
	}
	return all
}

func (tr transcript) write(t *testing.T) {
	t.Helper()
	var b strings.Builder
	for _, e := range tr.lines {
		for _, c := range e.comments {
			fmt.Fprintln(&b, c)
		}
		fmt.Fprintf(&b, "> %s\n", e.command)
		if e.want[0] == e.want[1] {
			fmt.Fprintf(&b, "< %q\n", e.want[0])
		} else {
			fmt.Fprintf(&b, "2< %q\n3< %q\n", e.want[0], e.want[1])
		}
	}
	if err := os.WriteFile(tr.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask sends a command and returns its reply, whatever that looks like: all before the
// reply to the next one.
func (c *client) ask(command string) string {
	c.t.Helper()
	const end = "that-was-all"
	parts, ok := words(nil, []byte(command))
	if !ok {
		c.t.Fatalf("quotes of %s", command)
	}
	var strs []string
	for _, p := range parts {
		strs = append(strs, string(p))
	}
	c.send(array(strs...) + array("ECHO", end))
	var got []byte
	for mark := fmt.Sprintf("$%d\r\n%s\r\n", len(end), end); ; {
		b, err := c.in.ReadByte()
		if err != nil {
			c.t.Fatalf("%s: after %q: %v", command, got, err)
		}
		if got = append(got, b); strings.HasSuffix(string(got), mark) {
			return string(got[:len(got)-len(mark)])
		}
	}
}

// play has the conversation in one of the protocols, and calls got with each reply.
func (tr transcript) play(t *testing.T, addr string, version int, got func(e *exchange, reply string)) {
	t.Helper()
	c := dial(t, addr)
	if version == 3 {
		c.ask("HELLO 3")
	}
	for i := range tr.lines {
		got(&tr.lines[i], c.ask(tr.lines[i].command))
	}
	c.Close()
}

func TestTranscripts(t *testing.T) {
	for _, tr := range append(readTranscripts(t, "redis"), readTranscripts(t, "ours")...) {
		t.Run(strings.TrimSuffix(filepath.Base(tr.path), ".txt"), func(t *testing.T) {
			for version := 2; version <= 3; version++ {
				tr.play(t, serve(t, Options{}).addr, version, func(e *exchange, reply string) {
					want := &e.want[version-2]
					if *rewrite {
						*want = reply
					}
					if reply != *want {
						t.Errorf("> %s\nRESP%d answered %q\nwant           %q", e.command, version, reply, *want)
					}
				})
			}
			if *rewrite {
				tr.write(t)
			}
		})
	}
}

// TestTranscriptsAreRedis has the same conversations with Redis itself.
func TestTranscriptsAreRedis(t *testing.T) {
	addr := redisServer(t)
	for _, tr := range readTranscripts(t, "redis") {
		t.Run(strings.TrimSuffix(filepath.Base(tr.path), ".txt"), func(t *testing.T) {
			for version := 2; version <= 3; version++ {
				dial(t, addr).ask("FLUSHALL")
				tr.play(t, addr, version, func(e *exchange, reply string) {
					if want := e.want[version-2]; reply != want {
						t.Errorf("> %s\nRedis answers in RESP%d %q\nwe do                   %q", e.command, version, reply, want)
					}
				})
			}
		})
	}
}

// TestEveryCommandIsTold asks that no command is without a transcript, but QUIT, which
// ends one and is in TestProtocol.
func TestEveryCommandIsTold(t *testing.T) {
	told := make(map[string]bool)
	for _, tr := range append(readTranscripts(t, "redis"), readTranscripts(t, "ours")...) {
		for _, e := range tr.lines {
			name, _, _ := strings.Cut(strings.ToLower(e.command), " ")
			told[name] = true
		}
	}
	for _, c := range commands() {
		if !told[c.name] && c.name != "quit" {
			t.Errorf("%s is in no transcript", c.name)
		}
	}
}

// TestTableIsRedis holds what the table says of each command against what Redis's
// says: arity, flags, and where the keys are.
func TestTableIsRedis(t *testing.T) {
	theirs, ours := dial(t, redisServer(t)), dial(t, serve(t, Options{}).addr)
	facts := func(c *client, name string) string {
		text, _, _ := strings.Cut(c.ask("COMMAND INFO "+name), "+@")
		return text[:strings.LastIndexByte(text, '*')]
	}
	for _, c := range commands() {
		if got, want := facts(ours, c.name), facts(theirs, c.name); got != want {
			t.Errorf("we say %q, Redis %q", got, want)
		}
	}
}

// redisServer starts Redis, if it is installed, and returns its address.
func redisServer(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	addr := freeport.Address(t)
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	stuck := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			go func() {
				for lines.Scan() {
				}
			}()
			return addr
		}
	}
	t.Fatal("redis-server did not start")
	return ""
}
