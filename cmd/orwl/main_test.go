package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks/lab"
	"github.com/orwl/go-orwl/locks/lab/arena"
	"github.com/orwl/go-orwl/locks/lab/report"
	"github.com/orwl/go-orwl/orwl/session"
)

// envProgram makes the test binary the program itself.
const envProgram = "ORWL_TEST_PROGRAM"

// TestMain lets the test binary be the program, and the processes that orwl model starts.
func TestMain(m *testing.M) {
	if os.Getenv(envProgram) != "" {
		os.Unsetenv(envProgram) // what it starts is no program of ours
		os.Exit(program.Execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	if arena.Child() {
		return
	}
	if started, err := measuringProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(command.Failed)
		}
		return
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
		{"-h", command.Done, []string{"usage: orwl COMMAND", "predict"}},
		{"run -h", command.Done, []string{"usage: orwl run [FLAGS] [--] PROGRAM", "-listen"}},
		{"serve -h", command.Done, []string{"usage: orwl serve", "-lease"}},
		{"lock -h", command.Done, []string{"usage: orwl lock", "ORWL_FENCE", "-wait"}},
		{"holders -h", command.Done, []string{"usage: orwl holders", "-release"}},
		{"sim -h", command.Done, []string{"-schedule", "-exhaust"}},
		{"sim -states 20000 -seeds 100", command.Done, []string{"mcs-no-flush     2      broken after", "hemlock-overlap  3      broken after", "ticket           2      holds in all"}},
		{"sim -lock hemlock-overlap", command.Failed, []string{"no rank can go on", `-topology "rank:3"`}},
		{"sim -lock mcs-flushed -exhaust -acquire 2", command.Done, []string{"936 states", "no promise broken"}},
		{"sim -lock MCS -shared -exhaust -acquire 2", command.Done, []string{"761 states", "no promise broken"}},
		{"sim -lock mcs -shared -exhaust -acquire 2", command.Done, []string{"MCS: queue lock", "761 states"}},
		{"sim -lock dmcs -seeds 10", command.Done, []string{"D-MCS: "}},
		{"sim -lock p-mcs-mcs -seeds 10", command.Done, []string{"P-MCS-MCS: ", "10 runs"}},
		{"sim -lock MCS-NO-FLUSH -csv", command.Failed, []string{"lock,topology,ranks,", "mcs-no-flush,core:2,2,3,drawn,broken,false,", "go run ./cmd/orwl sim -lock mcs-no-flush"}},
		{"sim -states 1000 -seeds 100 -json", command.Done, []string{`"lock": "rma-rw-no-reset"`, `"search": "every state"`, `"verdict": "broken"`, `"verdict": "holds so far"`}},
		{"sim -lock mcs-flushed -exhaust -states 100", command.Done, []string{"so far", "raise -states"}},
		{"sim -lock rw -seeds 100 -crashes 1", command.Done, []string{"100 runs", "no promise broken"}},
		{"sim -lock mcs-no-flush", command.Failed, []string{"stale data", "again: go run ./cmd/orwl sim -lock mcs-no-flush", "rank 0 tail"}},
		{"sim -lock RMA-RW -writers 2 -tr 2 -exhaust -acquire 2", command.Done, []string{"535 states", "no promise broken"}},
		{"sim -lock HMCS -topology node:2,core:2 -tl 1,2 -seeds 100 -cancels 2", command.Done, []string{"100 runs", "no promise broken"}},
		{"locks -topology node:2,core:2", command.Done, []string{"4 ranks", "RMA-RW           reader-writer   any time", "C-MCS-HEM"}},
		{"locks -json", command.Done, []string{`"lock": "RMA-RW",` + "\n    \"kind\": \"reader-writer\"", `"words_home": 2`, `"reader": {`, `"gets": 1`}},
		{"predict -lock c-mcs-mcs -topology node:2,core:4 -turns 10 -repeats 1 -bench ecsb", command.Done, []string{"piz-daint (Cray XC30", "described machines ", "node:2 core:4", "C-MCS-MCS"}},
		{"predict -lock mcs,rma-rw -bench ecsb,warb -fw 0.2 -ranks 16,64 -turns 5 -repeats 1 -csv", command.Done, []string{"bench,lock,window,", "ECSB,MCS,sim,node:4 core:16,64,", "WARB,RMA-RW,sim,node:1 core:16,16,"}},
		{"predict -machine coolmuc-2 -lock D-MCS -bench ecsb -ranks 112 -turns 2 -repeats 1 -json", command.Done, []string{"node:4 core:28", "coolmuc-2 (Haswell"}},
		{"predict -lock mcs -bench ecsb -ranks 16,17 -nodes 2 -turns 1 -repeats 1 -csv", command.Done, []string{",node:2 core:8,16,", ",node:2 core:9+8,17,"}},
		{"predict -h", command.Done, []string{"-machine", "default 10ms", "-bench", "coolmuc-2"}},
		{"bench -h", command.Done, []string{"-bench", "wbab", "-fw", "-html"}},
		{"bench -lock mcs,C-mcs-m?s,rma-rw -bench ecsb -ranks 2 -turns 50 -fw 0.2,20", command.Done, []string{"ECSB: throughput of an empty section (HPDC16 §5", "mem     2      MCS ", "C-MCS-MCS", "RMA-RW, F_W 20 %"}},
		{"bench -lock d-mcs -bench lb,upb -window sim -nodes 2 -ranks 4 -turns 20 -repeats 1 -csv", command.Done, []string{"bench,lock,window,", "LB,D-MCS,sim,node:2 core:2,4,1,0,0,0,latency,ns,", ",3c,ns,"}},
		{"bench -lock mcs -bench lb,upb -ranks 2 -turns 20 -repeats 1 -json", command.Done, []string{`"name": "latency"`, `"skipped": [`, "UPB on node:1 core:2: want two ranks in each of two elements"}},
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
		{"taskbench -h", command.Done, []string{"-steps", "random_spread", "load_imbalance", "-metg", "orwl-goroutines"}},
		{"taskbench -steps 4 -width 4 -type tree -vv", command.Done, []string{"Timestep 2 (offset 0, width 4, last offset 0, last width 2):", "          Point 1: 2 3\n", "Total Tasks 11\nTotal Dependencies 10\n"}},
		{"taskbench -type fft -width 8 -and -type dom -steps 9 -system orwl,orwl-goroutines,channels,barrier -v", command.Done, []string{"Task Graph 2:", "Dependence Type: dom", "System barrier", "Total Tasks 56\n"}},
		{"taskbench -metg -steps 2 -system channels", command.Done, []string{"no METG: -kernel empty has no iterations"}},
		{"model -machine Piz-Daint", command.Done, []string{"piz-daint (Cray", "a port at each node", "recalled   machine: put 1000", "hash of all described machines: "}},
	})
}

// TestMeasuringCommandLines is TestGoodCommandLines with commands that measure this machine. Each takes
// a second or more. TestModelIsAMachine has one of them for users.
func TestMeasuringCommandLines(t *testing.T) {
	rings.Needs(t, rings.Change)
	goodLines(t, []goodLine{
		{"taskbench -metg -type stencil_1d -steps 50 -kernel compute_bound -repeat 1 -system orwl,channels", command.Done, []string{"METG(50%) of 1 x stencil_1d, width 4, 50 steps", "orwl  ", "channels  "}},
		{"model -ranks 2", command.Done, []string{"mem on", "self", "issue", "instructions: load", "goroutines on "}},
		{"model -ranks 3 -window shm", command.Done, []string{"shm on", "self", "issue", "instructions: load", "processes on "}},
		{"model -ranks 2 -window p2p", command.Done, []string{"p2p on", "self", "issue"}},
		{"model -validate -lock mcs -turns 200 -repeats 1 -csv", command.Done, []string{"window,ranks,lock,measured_ns", "mem,32,MCS,", "shm,8,MCS,"}},
	})
}

func goodLines(t *testing.T, lines []goodLine) {
	t.Helper()
	for _, c := range lines {
		if rings.Sampled() && (strings.HasPrefix(c.args, "sim ") || strings.HasPrefix(c.args, "predict ")) {
			continue // one goroutine computes it
		}
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
		"":                                  "usage: orwl COMMAND",
		"simm":                              `no command "simm"`,
		"run":                               "no program: name one behind the flags",
		"bench -steps x":                    `-vary: "x": `, // the old name
		"run -n 0 true":                     "-nodes is 0, want 1 to 4096",
		"place -json -why":                  "-json and -why exclude each other",
		"run -m 4 true":                     "no flag -m",
		"run nosuchprogram":                 `"nosuchprogram": executable file not found`,
		"run -listen :1 true":               `-listen: launch: options: Run.Listen is ":1": no host: want host:port`,
		"serve extra":                       `unexpected argument "extra"`,
		"bench -bench nosuch":               `-bench: lab: no benchmark "nosuch": want LB, ECSB`,
		"bench -lock nosuch":                `-lock: lab: no lock "nosuch": want a name that orwl locks lists, a pattern, or all`,
		"bench -ranks 2,x":                  `-ranks: "x": `,
		"bench -ranks 2 -nodes 3":           "want at least one rank for each of the 3 nodes",
		"bench -machine nosuch":             `no machine "nosuch": known are piz-daint`,
		"bench -window mem,moon":            `-window: "moon": want mem, shm, p2p, sim, or all`,
		"bench -fw 101":                     `-fw: "101": want 0 to 100 percent`,
		"bench -time 0s":                    "-time is 0s, want more than 0",
		"bench -inside 1":                   `-inside: "1": time: missing unit`,
		"bench -json -csv":                  "-json and -csv exclude each other",
		"bench -bench upb -ranks 2":         "there is nothing to play: lab: UPB on node:1 core:2",
		"serve -listen 0.0.0.0:0":           `-listen is "0.0.0.0:0": want a key`,
		"serve -lease x":                    `-lease is "x", want a time with its unit`,
		"lock":                              "want a name and a command",
		"lock x --":                         "want a name and a command",
		"lock -n -wait 1s x true":           "-try excludes -wait and -read",
		"lock -wait -1s x true":             "-wait is -1s",
		"lock x nosuchprogram":              `"nosuchprogram": executable file not found`,
		"holders a b":                       `unexpected argument "b"`,
		"holders -watch":                    "no name",
		"holders -watch -release x":         "exclude each other",
		"holders -fence 3 x":                "-fence is for -release",
		"sim extra":                         `unexpected argument "extra"`,
		"sim -lokc mcs":                     "no flag -lokc (did you mean -lock?)",
		"sim -lock nosuch":                  `no lock "nosuch": want one that orwl locks lists, or mcs-flushed`,
		"sim -lock mcs-flushed -tl 2":       "-lock mcs-flushed has no options",
		"sim -lock MCS -tl 2":               "option TL is [2], want none: this lock has no such option",
		"sim -lock HMCS -tl 2,x":            `"x" is no number`,
		"sim -lock RMA-RW -tr -1":           "option TR is -1, want 1..",
		"locks -topology nod:2":             `did you mean "node"?`,
		"sim -json -csv":                    "-json and -csv exclude each other",
		"sim -acquire 0":                    "-acquire is 0, want 1 to",
		"sim -writers 3":                    "-writers is 3, want 0 to 2",
		"sim -seeds x":                      `-seeds is "x", want a whole number`,
		"sim -seeds 0":                      "-seeds is 0",
		"sim -topology rak:2":               `did you mean "rack"?`,
		"sim -lock mcs-flushed -schedule [": "'[' without ']'",
		"sim -lock mcs-flushed -seed 1 -schedule 0":               "exclude each other",
		"reproduce -share 2":                                      `-share is "2", want K/N`,
		"reproduce -share 3/2":                                    `-share is "3/2", want K/N`,
		"reproduce -figure nosuch":                                `-figure "nosuch" and -share 1/1 leave nothing to play: there are HPDC16 Fig. 3a`,
		"reproduce -figure [":                                     `-figure: "["`,
		"predict -machine nosuch":                                 `no machine "nosuch": known are piz-daint`,
		"predict -machine main_test.go":                           "invalid character",
		"tune -window mem,shm -machine piz-daint":                 `-window is "mem,shm", want one`,
		"tune -bench lb,snap -machine piz-daint":                  "-bench: SNAP is no loop around one lock",
		"tune -goal speed":                                        `-goal is "speed", want iteration`,
		"tune -default nosuch -machine piz-daint":                 `-default: no lock "nosuch"`,
		"tune -budget 0":                                          "-budget is 0, want 1 to",
		"tune -cv -1":                                             "-cv is -1, ",
		"topo -ranks -1":                                          "-ranks is -1",
		"topo -under nod:2":                                       `did you mean "node"?`,
		"vet":                                                     "no file: name one, or - for standard input",
		"vet -ordre f":                                            "no flag -ordre (did you mean -order?)",
		"vet testdata/f -order":                                   `unexpected argument "-order": flags stand before the one FILE`,
		"vet testdata/nosuch":                                     "testdata/nosuch: no such file",
		"vet testdata/notask.txt":                                 "no task is described: orwl vet -h shows how",
		"vet testdata/mistaken.txt":                               "testdata/mistaken.txt: liveness: line 2, column 12: an access begins with what it does\n\ttask row1: wriet a, read b\n\t           ^~~~~\n\tallowed: read or write\n",
		"vet -times f testdata/rows.txt":                          "-times is of no use without -speed: give both",
		"vet -workers 2 testdata/rows.txt":                        "-workers is of no use without -speed: give both",
		"vet -speed -workers -1 testdata/rows.txt":                "-workers is",
		"vet -speed -times f testdata/rows.txt":                   "open f: no such file",
		"vet -speed -times testdata/times.txt testdata/table.txt": "testdata/times.txt: line 2: testdata/table.txt describes no task read: leave the line out, or correct the name",
		"model -machine nosuch":                                   `no machine "nosuch": known are piz-daint`,
		"model -validate -lock nosuch":                            `-lock: lab: no lock "nosuch"`,
		"model -window smh":                                       `-window is "smh", want mem, shm or p2p`,
		"model -ranks 5000":                                       "-ranks is 5000, want 0 to 4096",
	} {
		code, _, complaints := try(t, strings.Fields(args)...)
		if code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("orwl %s: exit code %d, want %d and %q:\n%s", args, code, command.Misused, want, complaints)
		}
	}
}

// The command that a failure prints repeats it.
func TestPrintedCommandRepeats(t *testing.T) {
	for _, args := range []string{"sim -lock rma-rw-checked", "sim -lock rma-rw-checked -exhaust", "sim -lock mcs-late-flag -pauses 1"} {
		_, first, _ := try(t, strings.Fields(args)...)
		_, rest, found := strings.Cut(first, "again: go run ./cmd/orwl ")
		line, _, _ := strings.Cut(rest, "\n")
		if !found {
			t.Fatalf("orwl %s prints no command:\n%s", args, first)
		}
		code, again, complaints := try(t, strings.Fields(strings.ReplaceAll(line, `"`, ""))...)
		_, want, _ := strings.Cut(first, "\n\n")
		_, got, _ := strings.Cut(again, "\n\n")
		if code != command.Failed || got != want || want == "" {
			t.Errorf("%s: does not repeat, exit code %d %s\n%s\n%s", line, code, complaints, want, got)
		}
	}
}

// A measured model is a machine to predict on.
func TestModelIsAMachine(t *testing.T) {
	code, out, complaints := try(t, "model", "-ranks", "2", "-json")
	if code != command.Done {
		t.Fatal(complaints)
	}
	file := filepath.Join(t.TempDir(), "here.json")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaints = try(t, "predict", "-machine", file, "-lock", "mcs", "-bench", "ecsb", "-ranks", "4", "-json")
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != command.Done {
		t.Fatalf("%v, exit code %d %s\n%s", err, code, complaints, out)
	}
	if len(r.Results) != 1 || r.Results[0].Ranks != 4 || !strings.HasPrefix(r.Machine, "mem on ") {
		t.Fatalf("%+v", r)
	}
	if f, ok := r.Results[0].Figure(lab.FigureThroughput); !ok || f.Median <= 0 {
		t.Errorf("%+v", f)
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

// The help of each command fits a terminal, and shows an example whose flags there are.
func TestHelp(t *testing.T) {
	for _, c := range program.Commands {
		code, out, _ := try(t, "help", c.Name)
		if code != command.Done {
			t.Errorf("help %s: exit code %d", c.Name, code)
		}
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 100 {
				t.Errorf("help %s has a line of %d columns: %s", c.Name, len([]rune(line)), line)
			}
		}
		words := strings.Fields(c.Example)
		if len(words) == 0 {
			t.Logf("%s has no example yet", c.Name)
			continue
		}
		if len(words) < 2 || words[0] != "orwl" || words[1] != c.Name {
			t.Errorf("the example of %s is %q", c.Name, c.Example)
			continue
		}
		for _, w := range words[2:] {
			if w == "--" {
				break
			}
			if strings.HasPrefix(w, "-") && !strings.Contains(out, "\n  "+w) {
				t.Errorf("the example of %s has the flag %s, which its help does not have", c.Name, w)
			}
		}
	}
}

// orwl holders -json shows a lock as its table does.
func TestStatesAsJSON(t *testing.T) {
	var out bytes.Buffer
	err := writeStates(&out, session.State{Name: "jobs", Length: 3, Requests: []session.Request{
		{Who: "a", Session: 1, Held: true, Fence: 7, For: 1500 * time.Millisecond}, {Who: "b", Session: 2, Read: true, For: time.Second},
		{Who: "sweep 3", Node: 2, For: time.Second},
	}}, session.State{Name: "free"})
	want := `{"lock":"jobs","length":3,"requests":[{"who":"a","state":"holds","fence":7,"seconds":1.5},{"who":"b","state":"waits to read","seconds":1},{"task":"sweep 3","node":2,"state":"waits","seconds":1}]}
{"lock":"free","length":0,"requests":[]}
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
