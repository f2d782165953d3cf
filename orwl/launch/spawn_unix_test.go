//go:build unix

package launch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// never is a context without an end, for processes whose end is what is tested.
var never = context.Background()

// soon is how long a test may take before something is wrong.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// of is a run of three nodes that are this test binary in a role.
func of(role string) Run {
	return Run{Nodes: 3, Program: os.Args[0], Env: []string{envRole + "=" + role}, Stdout: io.Discard, Stderr: os.Stderr}
}

// waiting is a run whose parent is not the test, and is not heard.
func waiting(role string) Run {
	r := of(role)
	r.Stderr = io.Discard
	return r
}

// ready is a writer that calls then when every node has said that it is ready, with
// their process numbers.
type ready struct {
	bytes.Buffer
	nodes int
	then  func(pids []int)
}

func (r *ready) Write(p []byte) (int, error) {
	n, err := r.Buffer.Write(p)
	pids := make([]int, r.nodes)
	for line := range strings.Lines(r.String()) {
		var node, pid int
		prefix, text, _ := strings.Cut(line, "] ")
		fmt.Sscanf(prefix, "[%d", &node)
		if _, err := fmt.Sscanf(text, "ready %d\n", &pid); err == nil {
			pids[node] = pid
		}
	}
	for _, pid := range pids {
		if pid == 0 {
			return n, err
		}
	}
	if r.then != nil {
		r.then(pids)
		r.then = nil
	}
	return n, err
}

// The nodes know their places, share a secret key, and write whole lines.
func TestSpawn(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv(envKeyFile, "/nosuch") // is not for the nodes
	t.Setenv(envNodes, "17")
	t.Setenv(envPeers, "a,b")
	var out bytes.Buffer
	r := of("talk")
	r.Stdout, r.Stderr, r.Key = &out, &out, []byte(testKey)
	r.Env = append(r.Env, envNode+"=5")
	if err := Spawn(soon(t), r); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	places := []string{"node 0 of 3 (spawned), listens on 127.0.0.1:0", "node 1 of 3 (spawned), root at 127.0.0.1:4321, listens on 127.0.0.1:0",
		"node 2 of 3 (spawned), root at 127.0.0.1:4321, listens on 127.0.0.1:0"}
	for node, place := range places {
		if want := fmt.Sprintf("[%d] place %s, has a key key %s leaks false again <nil>\n", node, place, testKey); !strings.Contains(out.String(), want) {
			t.Errorf("no line %q", want)
		}
	}
	form := regexp.MustCompile(`^\[([0-2])\] (line (\d+) of ([0-2])|line|the end|ready \d+|place .*)\n$`)
	counts := make(map[string]int)
	for line := range strings.Lines(out.String()) {
		m := form.FindStringSubmatch(line)
		if m == nil || m[4] != "" && m[1] != m[4] {
			t.Fatalf("line %q", line)
		}
		counts[m[1]]++
	}
	for node := range places {
		if got, want := counts[fmt.Sprint(node)], 2+2*(2*talkLines+1); got != want {
			t.Errorf("node %d: %d lines, want %d", node, got, want)
		}
	}
}

func TestSpawnOne(t *testing.T) {
	var out bytes.Buffer
	r := of("talk")
	r.Nodes, r.Stdout, r.Stderr = 1, &out, io.Discard
	if err := Spawn(soon(t), r); err != nil || !strings.Contains(out.String(), "[0] place node 0 of 1 (spawned), has a key") {
		t.Errorf("%v\n%.200s", err, out.String())
	}
}

// The output of all nodes stands as it is if the run is plain, and so do the complaints of node 0.
func TestSpawnPlain(t *testing.T) {
	for plain, want := range map[bool]string{false: "[%d] place node %[1]d of 3", true: "place node %d of 3"} {
		var out bytes.Buffer
		r := of("talk")
		r.Stdout, r.Stderr, r.Plain = &out, io.Discard, plain
		if err := Spawn(soon(t), r); err != nil {
			t.Fatal(err)
		}
		for node := range 3 {
			if line := fmt.Sprintf("\n"+want, node); !strings.Contains("\n"+out.String(), line) {
				t.Errorf("plain %t: no line begins with %q", plain, line[1:])
			}
		}
	}
	for node, want := range []string{"", "[1] "} {
		c := newCrew(Run{Nodes: 2, Plain: true, Stdout: io.Discard, Stderr: io.Discard})
		if l := c.run.lines(&c.mu, c.run.Stderr, node); string(l.prefix) != want {
			t.Errorf("what node %d complains is behind %q, want %q", node, l.prefix, want)
		}
	}
}

// A node that fails ends the others, and is what the run failed of.
func TestSpawnFailure(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := of("fail")
	r.Grace = time.Hour // they need not be killed
	err := Spawn(soon(t), r)
	var failed *NodeError
	if !errors.As(err, &failed) || failed.Node != 2 || failed.Code != 3 || failed.ExitCode() != 3 {
		t.Errorf("%v", err)
	}
	if want := "launch: node 2 exited with code 3"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The launcher may see the end of a node that missed a killed one before it sees the end of the
// killed one. The killed one is the reason. A node that the launcher itself has ended is none.
func TestBlame(t *testing.T) {
	missed := &NodeError{Node: 0, Code: 1}
	for _, c := range []struct {
		name   string
		first  error
		then   *NodeError
		killed bool // by the launcher, too
		blamed bool
	}{
		{"killed by another", missed, &NodeError{Node: 1, Signal: syscall.SIGKILL}, false, true},
		{"asked to end", missed, &NodeError{Node: 1, Signal: syscall.SIGTERM}, false, false},
		{"killed by the launcher", missed, &NodeError{Node: 1, Signal: syscall.SIGKILL}, true, false},
		{"failed later", missed, &NodeError{Node: 1, Code: 2}, false, false},
		{"the second that was killed", &NodeError{Node: 0, Signal: syscall.SIGKILL}, &NodeError{Node: 1, Signal: syscall.SIGSEGV}, false, false},
		{"after the end of the context", context.Canceled, &NodeError{Node: 1, Signal: syscall.SIGKILL}, false, false},
	} {
		crew := newCrew(Run{Nodes: 2, Grace: time.Hour})
		crew.fail(c.first)
		crew.killed = c.killed
		crew.miss(&member{in: true}, c.then)
		want := c.first
		if c.blamed {
			want = c.then
		}
		if got := crew.failure; got != want {
			t.Errorf("%s: the run fails of %v, want %v", c.name, got, want)
		}
	}
}

// A node that is killed ends the others, also those that do not want to end.
func TestSpawnKilled(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, role := range []string{"wait", "stubborn"} {
		var all []int
		r := of(role)
		r.Grace = 50 * time.Millisecond
		r.Stdout = &ready{nodes: 3, then: func(pids []int) {
			all = pids
			syscall.Kill(pids[1], syscall.SIGKILL)
		}}
		err := Spawn(soon(t), r)
		var failed *NodeError
		if !errors.As(err, &failed) || failed.Node != 1 || failed.Signal != syscall.SIGKILL || failed.ExitCode() != 128+9 {
			t.Errorf("%s: %v", role, err)
		}
		if want := "launch: node 1 was ended by a signal: killed"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		for node, pid := range all {
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("%s: node %d is still there: %v", role, node, err)
			}
		}
	}
}

// A run that goes on keeps its other nodes when one is killed, says so once, and ends well with them.
func TestSpawnGoesOn(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := of("survivor")
	r.Grace = time.Hour // they need not be killed
	out := &ready{nodes: 3, then: func(pids []int) { syscall.Kill(pids[1], syscall.SIGKILL) }}
	told := &first{then: func() { syscall.Kill(os.Getpid(), syscall.SIGINT) }}
	r.Stdout, r.Stderr = out, told
	if err := Spawn(soon(t), r); err != nil {
		t.Errorf("%v, and the others have ended well", err)
	}
	if want := "launch: node 1 was ended by a signal: killed; the others go on\n"; told.String() != want {
		t.Errorf("said %q, want %q", told.String(), want)
	}
	for node, want := range []int{1, 0, 1} {
		if line := fmt.Sprintf("[%d] interrupted\n", node); strings.Count(out.String(), line) != want {
			t.Errorf("not %d times %q:\n%s", want, line, out.String())
		}
	}
}

// goesOn interrupts the launcher when that says that the others go on.
type goesOn struct{}

func (goesOn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("; the others go on")) {
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	}
	return len(p), nil
}

// The launcher heeds what a node has said, however soon the node fails then.
func TestSpawnHearsLastWords(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 10 {
		r := of("last words")
		r.Nodes = 2 // node 0 has reported before node 1 starts
		r.Stdout, r.Stderr = io.Discard, goesOn{}
		if err := Spawn(soon(t), r); err != nil {
			t.Fatalf("%v, and the node had said that the run goes on without it", err)
		}
	}
}

// A run that goes on ends when its last node fails.
func TestSpawnGoesOnToTheLast(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := of("survivor")
	r.Stdout = &ready{nodes: 3, then: func(pids []int) {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}}
	told := new(first)
	r.Stderr = told
	var lost *NodeError
	if err := Spawn(soon(t), r); !errors.As(err, &lost) || lost.ExitCode() != 128+9 {
		t.Errorf("%v", err)
	}
	if strings.Count(told.String(), "; the others go on\n") != 2 {
		t.Errorf("said %q, want two nodes without which the others go on", told.String())
	}
}

// first is a writer that calls then at the first line.
type first struct {
	bytes.Buffer
	then func()
}

func (f *first) Write(p []byte) (int, error) {
	if f.then != nil {
		f.then()
		f.then = nil
	}
	return f.Buffer.Write(p)
}

// Interrupts go to the nodes.
func TestSpawnForwardsSignals(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := of("polite")
	out := &ready{nodes: 3, then: func([]int) { syscall.Kill(os.Getpid(), syscall.SIGINT) }}
	r.Stdout = out
	if err := Spawn(soon(t), r); err != nil {
		t.Fatal(err)
	}
	for node := range r.Nodes {
		if want := fmt.Sprintf("[%d] interrupted\n", node); strings.Count(out.String(), want) != 1 {
			t.Errorf("not once %q:\n%s", want, out.String())
		}
	}
}

func TestSpawnCancelled(t *testing.T) {
	defer goleak.VerifyNone(t)
	enough := errors.New("enough")
	for _, role := range []string{"wait", "stubborn"} {
		ctx, cancel := context.WithCancelCause(soon(t))
		r := of(role)
		r.Grace = 50 * time.Millisecond
		r.Stdout = &ready{nodes: 3, then: func([]int) { cancel(enough) }}
		if err := Spawn(ctx, r); err != enough {
			t.Errorf("%s: %v", role, err)
		}
		cancel(nil)
	}
}

// A node 0 that does not say where it listens has either failed, or is no node.
func TestSpawnWithoutReport(t *testing.T) {
	defer goleak.VerifyNone(t)
	var failed *NodeError
	if err := Spawn(soon(t), of("silent")); !errors.Is(err, ErrNoReport) || !errors.As(err, &failed) || failed.Node != 0 || failed.ExitCode() != 1 {
		t.Error(err)
	}
	if err := Spawn(soon(t), of("dumb")); errors.Is(err, ErrNoReport) || !errors.As(err, &failed) || failed.Node != 0 || failed.Code != 3 {
		t.Error(err)
	}
	nosuch := of("silent")
	nosuch.Program = "/nosuch"
	if err := Spawn(soon(t), nosuch); !errors.Is(err, os.ErrNotExist) || !errors.As(err, &failed) {
		t.Error(err)
	}
}

func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := of("mistaken")
	r.Nodes, r.Stdout = 2, &out
	if err := Spawn(soon(t), r); err != nil {
		t.Fatal(err)
	}
	want := "[0] launch: cannot report \"nowhere\": want the host:port that this node listens on\n" +
		"[0] <nil> launch: this node has reported where it listens: it can do so once\n" +
		"[1] 127.0.0.1:4321\n"
	lines := strings.SplitAfter(out.String(), "\n")
	slices.SortStableFunc(lines, func(x, y string) int { return cmp.Compare(x[:min(3, len(x))], y[:min(3, len(y))]) }) // by node
	if got := strings.Join(lines, ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A process that has a spawned one's variables and not its pipes leaves whatever has
// their numbers alone.
func TestClosedPipes(t *testing.T) {
	for _, variables := range []string{
		envNode + "=0 " + envNodes + "=2 " + envLifeline + "=3",
		envNode + "=0 " + envNodes + "=2 " + envLifeline + "=x",
		envNode + "=0 " + envNodes + "=2 " + envLifeline + "=-1",
	} {
		cmd := exec.CommandContext(soon(t), os.Args[0])
		cmd.Env = append(os.Environ(), envRole+"=wait")
		cmd.Env = append(cmd.Env, strings.Fields(variables)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "launch: environment: ORWL_LIFELINE_FD is ") || !strings.Contains(string(out), "which is no pipe here") {
			t.Errorf("%s: %v\n%s", variables, err, out)
		}
	}
}

// If the process that started them is killed, nodes end: its own children, and the children of
// a process in between. On Linux its own children end even if they ignore the signal.
func TestParentKilled(t *testing.T) {
	roles := []string{"parent", "grand"}
	if runtime.GOOS == "linux" {
		roles = append(roles, "parent of stubborn")
	}
	for _, role := range roles {
		name := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := os.OpenFile(name, os.O_WRONLY, 0) // until the nodes have it open
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(soon(t), os.Args[0])
		cmd.Env = append(os.Environ(), envRole+"="+role, envFIFO+"="+name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(in)
		in.SetReadDeadline(time.Now().Add(5 * time.Minute))
		for range 3 {
			if line, err := lines.ReadString('\n'); line != "ready\n" {
				t.Fatalf("%s: %q, %v", role, line, err)
			}
		}
		out.Close()
		cmd.Process.Kill()
		cmd.Wait() // it was killed, and says so
		if rest, err := io.ReadAll(lines); len(rest) != 0 || err != nil {
			t.Errorf("%s: some node still has the FIFO open: %q, %v", role, rest, err)
		}
	}
}

func TestSelf(t *testing.T) {
	cmd := exec.CommandContext(soon(t), os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"=self")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit code %d, want that of node 2, 5", code)
	}
	for _, want := range []string{"[2] place 2 3 spawned\n", "launch: node 2 exited with code 5\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

// Self does not start nodes of nodes.
func TestSelfUnderLauncher(t *testing.T) {
	t.Setenv(envNode, "1")
	t.Setenv(envPeers, "a,b")
	for nodes, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, -1: true, mostSpawned + 1: true} {
		ended, code := Self(nodes)
		if ended != want || ended && code != 2 {
			t.Errorf("%d nodes: ended %t, code %d", nodes, ended, code)
		}
	}
	t.Setenv(envNode, "2")
	if ended, code := Self(2); !ended || code != 2 {
		t.Errorf("ended %t, code %d", ended, code)
	}
}

func TestRunOptions(t *testing.T) {
	for want, change := range map[string]func(*Run){
		"Run.Nodes is 0: want 1 to 4096":       func(r *Run) { r.Nodes = 0 },
		"Run.Nodes is 4097: want 1 to 4096":    func(r *Run) { r.Nodes = 4097 },
		"Run.Program is empty":                 func(r *Run) { r.Program = "" },
		"Run.Key has 3 bytes: want 16 to":      func(r *Run) { r.Key = []byte("abc") },
		`Run.Listen is ":1": no host: want`:    func(r *Run) { r.Listen = ":1" },
		"Run.Hosts has 4 hosts: want 1 to 3":   func(r *Run) { r.Hosts = []string{"a", "b", "c", "d"} },
		"Run.Hosts has 0 hosts: want 1 to 3":   func(r *Run) { r.Hosts = []string{} },
		`Run.Hosts has "-oX": that is no name`: func(r *Run) { r.Hosts = []string{"-oX"} },
		"Run.Env has A: over ssh a variable":   func(r *Run) { r.Hosts, r.Env = []string{"a"}, []string{"A=b\nC"} },
		"Run.Grace is -1ns: want more than 0":  func(r *Run) { r.Grace = -1 },
	} {
		r := of("silent")
		change(&r)
		if err := Spawn(soon(t), r); !errors.Is(err, ErrOptions) || !strings.HasPrefix(err.Error(), "launch: options: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSpawnStopped starts a node 0 that stops before it says where it listens. The launcher
// says what the others wait for.
func TestSpawnStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(soon(t))
	enough := errors.New("enough")
	var said bytes.Buffer
	r := of("stopped")
	r.Patience, r.Grace = time.Millisecond, time.Millisecond
	r.Stderr = writer(func(p []byte) (int, error) {
		cancel(enough)
		return said.Write(p)
	})
	if err := Spawn(ctx, r); !errors.Is(err, enough) {
		t.Error(err)
	}
	if text := said.String(); !strings.HasPrefix(text, "launch: node 0 has not said where it listens for 1ms, ") {
		t.Errorf("said %q", text)
	}
}

// writer is an io.Writer.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
