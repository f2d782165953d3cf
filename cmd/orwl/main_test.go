package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/command/commandtest"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/session"
	"github.com/orwl/go-orwl/orwl/trace"
	"github.com/orwl/go-orwl/orwl/watch"
)

// envProgram makes the test binary the program itself.
const envProgram = "ORWL_TEST_PROGRAM"

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv(envProgram) != "" {
		os.Unsetenv(envProgram) // the programs that it starts are not ours
		os.Exit(program.Execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	waitTogether()
	os.Exit(m.Run())
}

// waitTogether lets more tests run at once than there are processors, unless -parallel says how
// many: the parallel tests of this package mostly wait.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "8") // a number
	}
}

// try runs a command line.
func try(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	var o, c bytes.Buffer
	code = program.Execute(args, &o, &c)
	return code, o.String(), c.String()
}

// goodLine is a command line, its exit code, and what it prints.
type goodLine struct {
	args string
	code int
	want []string
}

func TestGoodCommandLines(t *testing.T) {
	goodLines(t, []goodLine{
		{"-h", command.Done, []string{"usage: orwl COMMAND", "topo"}},
		{"run -h", command.Done, []string{"usage: orwl run [FLAGS] [--] PROGRAM", "-listen"}},
		{"serve -h", command.Done, []string{"usage: orwl serve", "-lease"}},
		{"lock -h", command.Done, []string{"usage: orwl lock", "ORWL_FENCE", "-wait"}},
		{"holders -h", command.Done, []string{"usage: orwl holders", "-release"}},
		{"locks -topology node:2,core:2", command.Done, []string{"4 ranks", "RMA-RW                      reader-writer   any time", "C-MCS-HEM"}},
		{"locks -json", command.Done, []string{`"lock": "RMA-RW",` + "\n    \"kind\": \"reader-writer\"", `"words_home": 2`, `"reader": {`, `"gets": 1`}},
		{"topo -topology node:2,core:4 -ranks 4", command.Done, []string{"node:1 core:4", "4 ranks"}},
		{"topo -topology node:2,core:4*1+2*1 -json", command.Done, []string{`"ranks": 6`, `"name": "node",`, "\"first_ranks\": [\n        0,\n        4\n"}},
		{"place -topology node:2,core:2 -graph ring:4 -json", command.Done, []string{`"cost_in_order": {`, `"links": 4`, `"task": "3",`}},
		{"vet -json testdata/circle.txt", command.Failed, []string{`"alive": false`, `"stuck": 2`, `"for": "row`, `"mode": "read",`}},
		{"vet -json testdata/rows.txt", command.Done, []string{`"alive": true`, `"name": "column 1",`, `"accesses": 10`}},
		{"topo", command.Done, []string{"machine"}},
		{"vet -h", command.Done, []string{"usage: orwl vet [FLAGS] FILE", "task row1: write a, read b", "acquire 1, release 1, acquire 2, release 2", "-order"}},
		{"vet testdata/rows.txt", command.Done, []string{"testdata/rows.txt: alive: tasks 4, accesses 10, resources 4; checked in "}},
		{"vet testdata/jacobi.txt", command.Done, []string{"testdata/jacobi.txt: alive: tasks 3, accesses 7, resources 3; checked in "}},
		{"vet -order testdata/rows.txt", command.Done, []string{"row2: read row1 | write row2 | read row3\n", "\"column 1\": read row1 row2 | write \"the edge\"\n", "alive: tasks 4"}},
		{"vet -order testdata/circle.txt", command.Failed, []string{"a: read row2 | write row1\nb: read row1 | write row2\nc: write aside\n"}},
		{"vet -speed -workers 2 testdata/pipeline.txt", command.Done, []string{"alive: tasks 3",
			"\neach task takes 1µs: give -times FILE for others\n" +
				"period at least 2µs: read (1µs), then filter (1µs) wait for each other in a circle of 1 round\n" +
				"period at least 1.5µs with 2 workers: all tasks together take 3µs\n"}},
		{"vet -speed -workers 1 -times testdata/times.txt testdata/pipeline.txt", command.Done, []string{
			"checked in ", "s\nperiod at least 12.5µs: filter (8.5µs), then draw (4µs) wait for each other in a circle of 1 round\n" +
				"period at least 13.5µs with 1 worker: all tasks together take 13.5µs\n"}},
		{"vet -speed testdata/table.txt", command.Done, []string{
			"period at least 2.5µs: t2 (1µs), then t1 (1µs), then t0 (1µs), then t4 (1µs), then t3 (1µs) wait for each other in a circle of 2 rounds, 5µs in all\n"}},
		{"vet -speed testdata/jacobi.txt", command.Done, []string{"period at least 1µs: cell1 (1µs) alone sets the pace\nperiod at least "}},
		{"vet -speed -workers 2 -times testdata/times.txt -json testdata/pipeline.txt", command.Done, []string{
			`"speed": {`, `"period": 0.0000125`, `"rounds": 1`, `"task": "draw",` + "\n        \"time\": 0.000004", `"workers_period": 0.00000675`, `"work": 0.0000135`}},
	})
}

func goodLines(t *testing.T, lines []goodLine) {
	t.Helper()
	for _, c := range lines {
		code, out, complaints := try(t, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("orwl %s: exit code %d, want %d\n%s%s", c.args, code, c.code, out, complaints)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("orwl %s: lacks %q:\n%s", c.args, want, out)
			}
		}
	}
}

// A command line that makes no sense ends with code 2 and says what to write.
func TestBadCommandLines(t *testing.T) {
	for args, want := range map[string]string{
		"":                                         "usage: orwl COMMAND",
		"run":                                      "no program: name one behind the flags",
		"run -n 0 true":                            "-nodes is 0, want 1 to 4096",
		"place -json -why":                         "-json and -why exclude each other",
		"run -m 4 true":                            "no flag -m",
		"run nosuchprogram":                        `"nosuchprogram": executable file not found in $PATH: name a program of $PATH, or the path of one, such as ./prog`,
		"run -listen :1 true":                      `-listen: launch: options: Run.Listen is ":1": no host: want host:port`,
		"serve extra":                              `unexpected argument "extra"`,
		"serve -listen 0.0.0.0:0":                  `-listen is "0.0.0.0:0": want a key`,
		"serve -listen 127.0.0.1":                  `-listen is "127.0.0.1": want HOST:PORT, such as 127.0.0.1:6795, with a port from 0 to 65535`,
		"serve -listen 127.0.0.1:80x":              `-listen is "127.0.0.1:80x": want HOST:PORT`,
		"serve -listen 127.0.0.1:99999":            `-listen is "127.0.0.1:99999": want HOST:PORT`,
		"holders -at nowhere":                      `-at or ORWL_SERVER has "nowhere": want HOST:PORT, such as 127.0.0.1:6795, with a port from 1 to 65535`,
		"holders -at 127.0.0.1:0":                  `-at or ORWL_SERVER has "127.0.0.1:0": want HOST:PORT`,
		"lock -at 127.0.0.1: x true":               `-at or ORWL_SERVER has "127.0.0.1:": want HOST:PORT`,
		"serve -lease x":                           `-lease is "x", want a time with its unit`,
		"lock":                                     "want a name and a command",
		"lock x --":                                "want a name and a command",
		"lock -n -wait 1s x true":                  "-try excludes -wait and -read",
		"lock -wait -1s x true":                    "-wait is -1s",
		"lock x nosuchprogram":                     `"nosuchprogram": executable file not found in $PATH: name a program of $PATH, or the path of one, such as ./prog`,
		"lock x ./testdata":                        `"./testdata": is a directory: name a program of $PATH, or the path of one, such as ./prog`,
		"holders a b":                              `unexpected argument "b"`,
		"holders -server x":                        "no flag -server: want -at, -fence, -find, -json, -release or -watch",
		"why nowhere":                              `"nowhere" is no address: want HOST:PORT, such as 127.0.0.1:9464`,
		"top -often":                               "no flag -often",
		"holders -watch":                           "no name",
		"holders -watch -release x":                "exclude each other",
		"holders -fence 3 x":                       "-fence is for -release",
		"locks -topology nod:2":                    `did you mean "node"?`,
		"topo -ranks -1":                           "-ranks is -1",
		"topo -under nod:2":                        `did you mean "node"?`,
		"vet":                                      "no file: name one, or - for standard input",
		"vet -ordre f":                             "no flag -ordre (did you mean -order?)",
		"vet testdata/f -order":                    `unexpected argument "-order": flags stand before the one FILE`,
		"vet testdata/nosuch":                      "orwl vet: testdata/nosuch: no such file or directory: want a file that describes tasks: orwl vet -h shows how",
		"vet testdata":                             "orwl vet: testdata: is a directory: want a file that describes tasks",
		"trace report testdata/nosuch":             "testdata/nosuch: no such file or directory: want a file that a program has written by -trace, or by a trace.Recorder",
		"trace report testdata":                    "testdata: is a directory: want a file that a program has written",
		"trace report testdata/rows.txt":           "invalid character '#' looking for beginning of value: want a file that a program has written",
		"place -graph testdata":                    "is not grid:WxH, not ring:N, and no file: is a directory: want a file with lines of TASK TASK WEIGHT",
		"vet testdata/notask.txt":                  "no task is described: orwl vet -h shows how",
		"vet testdata/mistaken.txt":                "testdata/mistaken.txt: liveness: line 2, column 12: an access begins with what it does\n\ttask row1: wriet a, read b\n\t           ^~~~~\n\tallowed: read or write\n",
		"vet -times f testdata/rows.txt":           "-times is of no use without -speed: give both",
		"vet -workers 2 testdata/rows.txt":         "-workers is of no use without -speed: give both",
		"vet -speed -workers -1 testdata/rows.txt": "-workers is",
		"vet -speed -times f testdata/rows.txt":    "-times: f: no such file or directory: want a file with a line TASK DURATION for each task",
		"vet -speed -times testdata/times.txt testdata/table.txt": "testdata/times.txt: line 2: testdata/table.txt describes no task read: leave the line out, or correct the name",
		"vte": `no command "vte" (did you mean vet?)`,
	} {
		code, _, complaints := try(t, strings.Fields(args)...)
		if code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("orwl %s: exit code %d, want %d and %q:\n%s", args, code, command.Misused, want, complaints)
		}
	}
}

// An error that is no misuse says what to do next, too.
func TestAdvice(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	keyed, err := session.Listen(t.Context(), session.ServerOptions{Listen: "127.0.0.1:0", Key: []byte("the key of these tests")})
	if err != nil {
		t.Fatal(err)
	}
	defer keyed.Close(context.Background())
	open, err := session.Listen(t.Context(), session.ServerOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close(context.Background())
	held, err := session.Dial(t.Context(), session.Options{Addresses: []string{open.Address()}})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	lock, err := held.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock(context.Background())
	for args, want := range map[string]string{
		"holders -at 127.0.0.1:1":                                   "connection refused: start orwl serve, or say by -at or ORWL_SERVER where it is",
		"holders -at " + keyed.Address():                            "not a node of this run: set ORWL_KEY_FILE or ORWL_KEY to the key of that orwl serve, or unset both if it has none",
		"holders -at " + open.Address() + " -release -fence 1234 x": "no session holds x with fence 1234: orwl holders shows who holds what",
		"holders -at " + open.Address() + " -release y":             "no session holds y: orwl holders shows who holds what",
		"lock -at " + open.Address() + " -try x true":               "the lock is not free: orwl holders x shows who has it",
		"lock -at " + open.Address() + " -wait 1ms x true":          "the lock is not free after 1ms: orwl holders x shows who has it",
		"serve -listen " + taken.Addr().String():                    "another process listens there: end it, or choose another port by -listen; if it is orwl serve, orwl lock and orwl holders can use it",
	} {
		code, _, complaints := try(t, strings.Fields(args)...)
		if code != command.Failed || !strings.Contains(complaints, want) {
			t.Errorf("orwl %s: exit code %d, want %d and %q:\n%s", args, code, command.Failed, want, complaints)
		}
	}
}

// A deadlock is a complaint, and no usage error.
func TestVetDeadlock(t *testing.T) {
	code, out, complaints := try(t, "vet", "testdata/circle.txt")
	want := "orwl vet: testdata/circle.txt: liveness: deadlock: of 3 tasks, 2 would wait for ever:\n" +
		"\trow1 waits to write a (access 1), which row2 holds to read (access 2)\n" +
		"\trow2 waits to write b (access 1), which row1 holds to read (access 2)\n"
	if code != command.Failed || out != "" || !strings.HasPrefix(complaints, want) {
		t.Errorf("exit code %d\n%s%s\nwant %d\n%s", code, out, complaints, command.Failed, want)
	}
}

func TestVetStandardInput(t *testing.T) {
	file, err := os.Open("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func(in *os.File) { os.Stdin = in }(os.Stdin)
	os.Stdin = file
	if code, out, complaints := try(t, "vet", "-"); code != command.Done || !strings.HasPrefix(out, "-: alive: tasks 4") || strings.Count(out, "\n") != 1 {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
}

// orwl holders -json shows a lock as its table does.
func TestStatesAsJSON(t *testing.T) {
	var out bytes.Buffer
	err := writeStates(&out, session.State{Name: "jobs", Length: 2, Requests: []session.Request{
		{Who: "a", Session: 1, Held: true, Fence: 7, For: 1500 * time.Millisecond}, {Who: "b", Session: 2, Read: true, For: time.Second},
	}}, session.State{Name: "free"})
	want := `{"lock":"jobs","length":2,"requests":[{"who":"a","state":"holds","fence":7,"seconds":1.5},{"who":"b","state":"waits to read","seconds":1}]}
{"lock":"free","length":0,"requests":[]}
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestHelpPage(t *testing.T) {
	t.Setenv(addressVariable, "") // is in the help of -at
	commandtest.Check(t, program, "../../docs/reference/commands.md")
	commandtest.Examples(t, program)
}

// orwl why names the task on which a run hangs, from a node that answers, and orwl top shows its tasks.
func TestWhy(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("shared", 8)
	hang, goOn := make(chan struct{}), make(chan struct{})
	for _, name := range []string{"first", "second"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Each(1, func(int) error {
			if name == "first" {
				close(hang)
				<-goOn
			}
			return nil
		})
	}
	ran := make(chan error)
	go func() { ran <- rt.Run(context.Background()) }()
	<-hang
	p, mux := watch.New(func() *orwl.Runtime { return rt }), http.NewServeMux()
	p.Register(mux)
	s := httptest.NewServer(mux)
	at := strings.TrimPrefix(s.URL, "http://")
	code, out, complaints := try(t, "why", "127.0.0.1:1", at)
	if code != command.Done || strings.Count(out, "\n") != 1 || !strings.Contains(out, "task first works in round 0 for ") ||
		!strings.HasSuffix(out, "chan receive), and holds shared; 1 task waits for it: second ──▶ first\n") {
		t.Errorf("%d, %s%s", code, out, complaints)
	}
	var why inspect.Why
	if code, out, _ := try(t, "why", "-json", at); code != command.Done || json.Unmarshal([]byte(out), &why) != nil || why.Task != "first" || !why.Stands {
		t.Errorf("%d, %s", code, out)
	}
	if code, out, _ := try(t, "top", "-once", at); code != command.Done || !strings.Contains(out, "\nsecond (node 0) waits for a turn at shared") {
		t.Errorf("%d, %s", code, out)
	}
	close(goOn)
	if err := <-ran; err != nil {
		t.Error(err)
	}
	p.Close()
	s.Close()
	for _, command := range []string{"why", "top"} {
		if code, _, complaints := try(t, command, "127.0.0.1:1"); code != 1 || !strings.Contains(complaints, "no run is shown there") {
			t.Errorf("%s where nothing listens: %d, %s", command, code, complaints)
		}
	}
}

// graphFile writes a graph for orwl place and returns its path.
func graphFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "graph")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPlace(t *testing.T) {
	pairs := graphFile(t, "# who talks to whom\nleft out 5\n\nin right 7 # heavy\nleft right 1\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-h"}, []string{"-graph", "-why"}},
		{nil, []string{"256 tasks, 480 links"}},
		{[]string{"-topology", "node:4 core:4", "-graph", "grid:64x64"}, []string{
			"4096 tasks, 8064 links of weight 8064, on node:4 core:4 (16 ranks, at most 256 on each)",
			"blocks in order  1152          7104           768              192",
			"round robin      4992          4032          3072              960"}},
		{[]string{"-topology", "core:4", "-graph", "ring:16"}, []string{"16 tasks, 16 links", "as placed           4            12                4"}},
		{[]string{"-topology", "group:2 node:2", "-graph", "ring:16"}, []string{"on group:2 node:2 (4 ranks, at most 4 on each)", "same node ×0  same group ×1  same machine ×2"}},
		{[]string{"-topology", "core:4", "-graph", "ring:2"}, []string{"2 tasks, 1 link of weight 2"}},
		{[]string{"-topology", "core:4", "-graph", "ring:1"}, []string{"1 task, 0 links"}},
		{[]string{"-topology", "core:2", "-graph", pairs}, []string{"4 tasks, 3 links of weight 13, on core:2 (2 ranks, at most 2 on each)", "as placed           1            12                1"}},
		{[]string{"-topology", "core:2", "-graph", pairs, "-why"}, []string{"weight that stays", "neighbours from near to far", "right "}},
		{[]string{"-topology", "core:2", "-graph", pairs, "-why", "-task", "left"}, []string{"Task left is on rank", "  the rest of machine       1    17%    100%     1  right"}},
		{[]string{"-topology", "node:2 core:2", "-graph", "grid:4x4", "-why", "-task", "3,2"}, []string{"Task 3,2 is on rank", "no rank would cost it less"}},
	} {
		code, out, complaints := try(t, append([]string{"place"}, c.args...)...)
		if code != command.Done {
			t.Errorf("%q: exit code %d\n%s", c.args, code, complaints)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q: lacks %q:\n%s", c.args, want, out)
			}
		}
	}
}

func TestPlaceMistakes(t *testing.T) {
	file := func(text string) []string { return []string{"-graph", graphFile(t, text)} }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-topology", "nod:2"}, `did you mean "node"?`},
		{[]string{"-graph", "grid:4"}, "want grid:WxH, as in grid:64x64"},
		{[]string{"-graph", "grid:0x4"}, "want grid:WxH"},
		{[]string{"-graph", "grid:4096x4096"}, "up to 4194304 tasks"},
		{[]string{"-graph", "ring:x"}, "want ring:N, as in ring:64"},
		{[]string{"-graph", "ring:0"}, "want ring:N"},
		{[]string{"-graph", "gird:4x4"}, `"gird:4x4" is not grid:WxH, not ring:N, and no file`},
		{file("a b 1\na b\n"), ":2: 2 words, want TASK TASK WEIGHT"},
		{file("# a\na b -1\n"), `:2: weight "-1", want a whole number`},
		{file("a b 1.5\n"), `:1: weight "1.5"`},
		{file("a b 1\n\nb b 1\n"), ":3: b is linked with itself"},
		{file("a b 1\n" + strings.Repeat("x", 1<<17)), ":2: bufio.Scanner: token too long"},
		{file("# nothing\n"), "no task in it"},
		{file("a b 9223372036854775807\n"), "makes the sum of all weights too large"},
		{[]string{"-task", "1,1"}, "-task 1,1 says nothing without -why"},
		{[]string{"-why", "-task", "99,1"}, `unknown task "99,1": tasks are called 0,0 1,0`},
	} {
		code, out, complaints := try(t, append([]string{"place"}, c.args...)...)
		if code != command.Misused || !strings.Contains(complaints, c.want) || out != "" {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", c.args, code, command.Misused, c.want, complaints, out)
		}
	}
}

const smallTrace = "../../orwl/trace/testdata/small.json"

func TestTraceReport(t *testing.T) {
	want, err := os.ReadFile("../../orwl/trace/testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, complaints := try(t, "trace", "report", smallTrace); code != command.Done || out != string(want) {
		t.Errorf("exit code %d %s\n%s, want\n%s", code, complaints, out, want)
	}
	code, out, _ := try(t, "trace", "report", "-json", "-waits", "2", smallTrace)
	var r trace.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != command.Done {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if r.Seconds != 0.024 || len(r.Tasks) != 3 || len(r.Waits) != 2 || r.Path.Seconds != 0.024 {
		t.Errorf("%+v", r)
	}
	if code, out, _ := try(t, "trace", "report", "-waits", "0", smallTrace); code != command.Done || strings.Contains(out, "longest waits") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if code, out, complaints := try(t, "trace", "report", "-html", page, smallTrace); code != command.Done || out != string(want) {
		t.Errorf("exit code %d %s\n%s", code, complaints, out)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.HasPrefix(string(text), "<!doctype html>") || !strings.Contains(string(text), `"tasks":["reader`) {
		t.Errorf("the page is %.200q, %v", text, err)
	}
	for _, args := range [][]string{{"trace", "-h"}, {"trace", "report", "-h"}} {
		if code, out, _ := try(t, args...); code != command.Done || !strings.Contains(out, "usage: orwl trace report [FLAGS] FILE") || !strings.Contains(out, "-waits") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
}

func TestTraceReportOfStandardInput(t *testing.T) {
	file, err := os.Open(smallTrace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func(in *os.File) { os.Stdin = in }(os.Stdin)
	os.Stdin = file
	if code, out, complaints := try(t, "trace", "report", "-"); code != command.Done || !strings.HasPrefix(out, "3 tasks on 1 node, in 24ms") {
		t.Errorf("exit code %d %s\n%s", code, complaints, out)
	}
}

// A wrong file gives an error of one line, with the file's name.
func TestTraceOfWrongFiles(t *testing.T) {
	good, err := os.ReadFile(smallTrace)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for want, args := range map[string][]string{
		"say what to do with which trace":               {"trace"},
		`no "run.json": want report`:                    {"trace", "run.json"},
		"no file: name one":                             {"trace", "report"},
		`unexpected argument "-json": flags stand`:      {"trace", "report", smallTrace, "-json"},
		"no flag -jsno (did you mean -json?)":           {"trace", "report", "-jsno", smallTrace},
		"-waits is -1, want 0 to":                       {"trace", "report", "-waits", "-1", smallTrace},
		"none.json: no such file or directory":          {"trace", "report", filepath.Join(dir, "none.json")},
		"is a directory":                                {"trace", "report", dir},
		"text.json: trace: not JSON: byte 1":            {"trace", "report", file("text.json", "hello")},
		"half.json: trace: the file ends in the middle": {"trace", "report", file("half.json", string(good[:len(good)/2]))},
		"other.json: trace: no trace of tasks":          {"trace", "report", file("other.json", `{"traceEvents":[]}`)},
	} {
		code, out, complaints := try(t, args...)
		if code != command.Misused || out != "" || !strings.Contains(complaints, want) || strings.Count(complaints, "\n") != 2 {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s%s", args, code, command.Misused, want, out, complaints)
		}
	}
}
