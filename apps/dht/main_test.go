package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/command/commandtest"
	"github.com/orwl/go-orwl/orwl/launch"
)

// asProgram makes this test the program, for those that start processes.
const asProgram = "ORWL_DHT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	// Or another process of a contest.
	if started, err := benchProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Setenv("ORWL_LEASE", "1m")                                 // no test is about a silent node
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // for those processes: the race detector's default is a second
	os.Exit(m.Run())
}

// program is dht as a process of its own. patience ends one that hangs.
func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	return c
}

const patience = 5 * time.Minute

func TestCommandLine(t *testing.T) {
	for _, row := range []struct {
		args      string
		code      int
		out, said string // something in each; nothing else if empty
	}{
		{"", command.Misused, "", "usage: dht COMMAND"},
		{"-h", command.Done, "serve      serve a hash table", ""},
		{"help", command.Done, "bench ", ""},
		{"frob", command.Misused, "", `dht: no command "frob": want serve or bench; dht -h tells more`},
		{"serve -h", command.Done, "-password-file FILE", ""},
		{"serve x", command.Misused, "", `dht serve: unexpected argument "x"`},
		{"serve -idle 5", command.Misused, "", `dht serve: -idle is "5", want a time with its unit, such as 300ms, 5s or 2m`},
		{"serve -frob", command.Misused, "", "dht serve: no flag -frob"},
		{"serve -addr x", command.Misused, "", `-listen is "x", want`}, // the old name
		{"serve -listen x", command.Misused, "", `-listen is "x", want HOST:PORT such as 127.0.0.1:6379`},
		{"serve -listen 127.0.0.1:65536", command.Misused, "", "want a port from 0 to 65535"},
		{"serve -listen :0", command.Misused, "", `-listen is ":0", where other machines can connect: set a password by -password-file or DHT_PASSWORD`},
		{"serve -listen 0.0.0.0:0", command.Misused, "", "where other machines can connect"},
		{"serve -listen 127.0.0.1:65535 -nodes 2", command.Misused, "", "leaves no port for node 1"},
		{"serve -clients 0", command.Misused, "", `-clients is "0", want a whole number from 1 to 65536`},
		{"serve -bulk 1", command.Misused, "", `-bulk is "1", want a whole number from 64 to 536870912`},
		{"serve -idle 1us", command.Misused, "", "-idle is 1µs, want 0 or at least 1ms"},
		{"serve -nodes 65", command.Misused, "", `-nodes is "65", want a whole number from 1 to 64`},
		{"serve -ssh -x", command.Misused, "", `-ssh is "-x": that is no name of a host`},
		{"serve -ssh a,b -nodes 1", command.Misused, "", "-nodes is 1, want at least 2, as many as -ssh names hosts"},
		{"serve -ssh a,b -listen :0", command.Misused, "", "where other machines can connect"},
		{"serve -volumes 65537", command.Misused, "", `-volumes is "65537", want a whole number from 0 to 65536`},
		{"serve -memory 1 -volumes 1000", command.Misused, "", "which leaves a volume 0 bytes, want at least 8192"},
		{"serve -guard MCS", command.Misused, "", `-guard is "MCS", want foMPI-RW, RMA-RW`},
		{"serve -password-file nothing", command.Misused, "", `-password-file is "nothing": no such file or directory`},
	} {
		var out, said strings.Builder
		code := execute(strings.Fields(row.args), &out, &said)
		if code != row.code {
			t.Errorf("dht %s: exit code %d, want %d", row.args, code, row.code)
		}
		for _, stream := range []struct{ name, got, want string }{{"stdout", out.String(), row.out}, {"stderr", said.String(), row.said}} {
			if !strings.Contains(stream.got, stream.want) || stream.want == "" && stream.got != "" {
				t.Errorf("dht %s: %s has %q, want %q in it", row.args, stream.name, stream.got, stream.want)
			}
		}
		if row.code == command.Misused && row.args != "" && strings.Count(said.String(), "\n") > 2 {
			t.Errorf("dht %s: says more than a line and where help is:\n%s", row.args, said.String())
		}
	}
}

func TestPassword(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	variable := func(text string, set bool) func(string) (string, bool) {
		return func(name string) (string, bool) {
			if name != "DHT_PASSWORD" {
				t.Errorf("asks for the variable %s", name)
			}
			return text, set
		}
	}
	unset := variable("", false)
	open := file("secret")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		file   string
		lookup func(string) (string, bool)
		want   string
		err    string
	}{
		{"", unset, "", ""},
		{"", variable("secret", true), "secret", ""},
		{"", variable("", true), "", "is set and empty"},
		{file("secret\r\nmore\n"), unset, "secret", ""},
		{file(" with space"), variable("other", true), " with space", ""},
		{file("\n"), unset, "", "first line is empty"},
		{file(""), unset, "", "first line is empty"},
		{file(strings.Repeat("x", 5000)), unset, "", "longer than 4096 bytes"},
		{t.TempDir(), unset, "", "it is a folder"},
		{open, unset, "", "so it is not secret: chmod 600 it"},
	} {
		o := serveFlags{passwordFile: row.file}
		got, err := o.password(row.lookup)
		if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("password in %q: %q, %v; want %q, %q", row.file, got, err, row.want, row.err)
		}
	}
}

// TestAddress keeps a server without a password from others.
func TestAddress(t *testing.T) {
	for _, row := range []struct {
		addr, password string
		node           int
		want           string // or nothing
	}{
		{"127.0.0.1:7000", "", 0, "127.0.0.1:7000"}, {"127.0.0.1:7000", "", 3, "127.0.0.1:7003"}, {"127.0.0.1:0", "", 3, "127.0.0.1:0"},
		{"[::1]:7000", "", 0, "[::1]:7000"}, {"127.9.9.9:7000", "", 0, "127.9.9.9:7000"},
		{":7000", "", 0, ""}, {"0.0.0.0:7000", "", 0, ""}, {"[::]:7000", "", 0, ""}, {"192.0.2.1:7000", "", 0, ""},
		{"192.0.2.1:7000", "x", 0, "192.0.2.1:7000"}, {":7000", "x", 1, ":7001"},
	} {
		o := serveFlags{addr: row.addr}
		got, err := o.address(row.node, row.password)
		if (err == nil) != (row.want != "") || err == nil && got.String() != row.want {
			t.Errorf("node %d at %q with password %q: %v, %v; want %q", row.node, row.addr, row.password, got, err, row.want)
		}
	}
}

// line is a line of the server's log.
type line struct {
	Msg, Address, URL string
	Node, Nodes       int
}

// started waits until all nodes of a server serve, and returns where.
func started(t *testing.T, log io.Reader, nodes int) map[int]string {
	t.Helper()
	at, _ := shown(t, log, nodes)
	return at
}

// shown is started that also tells where the nodes' metrics are, if they say so.
func shown(t *testing.T, log io.Reader, nodes int) (at, metrics map[int]string) {
	t.Helper()
	at, metrics = make(map[int]string), make(map[int]string)
	lines := bufio.NewScanner(log)
	for len(at) < nodes && lines.Scan() {
		_, text, _ := strings.Cut(lines.Text(), "{")
		var l line
		if err := json.Unmarshal([]byte("{"+text), &l); err != nil {
			t.Fatalf("the server says %q", lines.Text())
		}
		switch l.Msg {
		case "serving redis clients":
			at[l.Node] = l.Address
		case "metrics":
			metrics[l.Node] = l.URL
		}
	}
	if len(at) < nodes {
		t.Fatalf("%d of %d nodes serve", len(at), nodes)
	}
	go io.Copy(io.Discard, log)
	return at, metrics
}

// say sends a line and returns a line.
func say(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "%s\r\n", text)
	reply, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.TrimSpace(reply)
}

// TestServe serves, refuses to serve twice, and ends when it is asked to.
func TestServe(t *testing.T) {
	c := program(t, []string{"DHT_PASSWORD=secret"}, "serve", "-listen", "127.0.0.1:0")
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	addr := started(t, log, 1)[0]
	if got := say(t, addr, "GET k"); !strings.HasPrefix(got, "-NOAUTH") {
		t.Errorf("a stranger heard %q", got)
	}
	if got := say(t, addr, "AUTH secret\r\nSET k v"); got != "+OK" {
		t.Errorf("the password is answered with %q", got)
	}
	out, err := program(t, nil, "serve", "-listen", addr).CombinedOutput()
	if want := "dht serve: " + addr + " is taken: end what listens there, or choose another by -listen\n"; string(out) != want {
		t.Errorf("a second server says %q, %v; want %q", out, err, want)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says how it ended
	if code := c.ProcessState.ExitCode(); code != command.Interrupted {
		t.Errorf("the interrupted server ended with %d, want %d", code, command.Interrupted)
	}
}

// TestServeNodes asks one node for what another was told.
func TestServeNodes(t *testing.T) {
	c := program(t, nil, "serve", "-listen", "127.0.0.1:0", "-nodes", "2")
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	at := started(t, log, 2)
	for i := range 100 {
		if got := say(t, at[i%2], fmt.Sprintf("SET key%d %d", i, i)); got != "+OK" {
			t.Fatalf("node %d answered %q", i%2, got)
		}
	}
	for i := range 100 {
		if got, want := say(t, at[1-i%2], fmt.Sprintf("INCR key%d", i)), fmt.Sprintf(":%d", i+1); got != want {
			t.Fatalf("node %d answered %q, want %q", 1-i%2, got, want)
		}
	}
	for node, addr := range at {
		if got := say(t, addr, "DBSIZE"); got != ":100" {
			t.Errorf("node %d has %q keys, want 100", node, got)
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says how it ended
	if code := c.ProcessState.ExitCode(); code != command.Interrupted {
		t.Errorf("the interrupted server ended with %d, want %d", code, command.Interrupted)
	}
}

func TestHelpPage(t *testing.T) {
	commandtest.Check(t, itself(io.Discard), "../../docs/reference/commands.md")
}

// TestDashboard compares the metrics of this program that dashboards name with those that
// there are, and all of them with docs/reference/observe.md.
func TestDashboard(t *testing.T) {
	e, err := show("127.0.0.1:0", "RMA-RW", launch.Place{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	there := make(chan *prometheus.Desc)
	go func() {
		defer close(there)
		new(figures).Describe(there)
		e.times.Describe(there)
	}()
	guide, err := os.ReadFile("../../docs/reference/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	exported := make(map[string]bool)
	for d := range there {
		name := strings.Split(d.String(), `"`)[1]
		exported[name] = true
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/reference/observe.md does not tell of %s", name)
		}
	}
	named, err := dashboards.Named()
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for name, where := range named {
		if !strings.HasPrefix(name, "dht_") {
			continue
		}
		if drawn++; !exported[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("%s names %s, which nobody exports", where, name)
		}
	}
	if drawn == 0 {
		t.Error("no dashboard shows the table")
	}
}
