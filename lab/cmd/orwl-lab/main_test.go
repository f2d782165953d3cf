package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/report"
)

// envProgram makes the test binary the program itself.
const envProgram = "ORWL_TEST_PROGRAM"

// TestMain lets the test binary be the program, and the processes that orwl-lab model starts.
func TestMain(m *testing.M) {
	if os.Getenv(envProgram) != "" {
		os.Unsetenv(envProgram) // its children are no programs of ours
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
	os.Exit(m.Run())
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
		{"-h", command.Done, []string{"usage: orwl-lab COMMAND", "predict"}},
		{"sim -h", command.Done, []string{"-schedule", "-play", "cancel-crash"}},
		{"sim -play seeds", command.Done, []string{"mcs-no-flush     broken after", "hemlock-overlap  broken after", "ticket           holds in"}},
		{"sim -lock hemlock-overlap -play seeds", command.Failed, []string{"broken by seeds/core:3/operations", "again: go -C lab run ./cmd/orwl-lab sim -lock hemlock-overlap -play seeds/core:3/operations -seed "}},
		{"sim -lock mcs-flushed -play states", command.Done, []string{"2 searches, all 1872 states", "no promise broken", "plays that -play leaves out"}},
		{"sim -lock mcs -play states", command.Done, []string{"MCS: queue lock", "4 searches, all 9116 states", "no promise broken"}},
		{"sim -lock MCS -play states/core:2/direct -acquire 1", command.Done, []string{"1 searches, all "}},
		{"sim -lock dmcs -seeds 1 -play seeds", command.Done, []string{"D-MCS: ", "the lock does not give up then"}},
		{"sim -lock p-mcs-mcs -play fair", command.Done, []string{"P-MCS-MCS: ", "10 comparisons"}},
		{"sim -lock TTS -play seeds -seeds 3 -states 0", command.Done, []string{"the lock's row states none"}},
		{"sim -lock MCS-NO-FLUSH -csv", command.Failed, []string{"lock,play,verdict,", "mcs-no-flush,seeds/core:2/operations,broken,false,", "go -C lab run ./cmd/orwl-lab sim -lock mcs-no-flush"}},
		{"sim -seeds 2 -play seeds -json", command.Failed, []string{`"lock": "rma-rw-no-reset"`, `"play": "seeds/core:2/operations"`, `"verdict": "broken"`, `"play": "all"`}},
		{"sim -lock mcs-flushed -play crash -states 100", command.Done, []string{"0 of them all", "-states 0 visits all states"}},
		{"sim -lock mcs-no-flush", command.Failed, []string{"stale data", "again: go -C lab run ./cmd/orwl-lab sim -lock mcs-no-flush", "rank 0 tail"}},
		{"sim -lock barging -play fair", command.Failed, []string{"MCS, but a rank that comes takes a free lock", "unfair: "}},
		{"sim -lock RMA-RW -tr 2 -play states/core:2/operations", command.Done, []string{"4 searches, all ", "they choose options of their own"}},
		{"sim -lock HMCS -topology node:2,core:2 -tl 1,2 -seeds 100 -play seeds", command.Done, []string{"2 plays, 200 runs", "no promise broken"}},
		{"predict -lock c-mcs-mcs -topology node:2,core:4 -turns 10 -repeats 1 -bench ecsb", command.Done, []string{"piz-daint (Cray XC30", "described machines ", "node:2 core:4", "C-MCS-MCS"}},
		{"predict -lock mcs,rma-rw -bench ecsb,warb -fw 0.2 -ranks 16,64 -turns 5 -repeats 1 -csv", command.Done, []string{"bench,lock,window,", "ECSB,MCS,sim,node:4 core:16,64,", "WARB,RMA-RW,sim,node:1 core:16,16,"}},
		{"predict -machine coolmuc-2 -lock D-MCS -bench ecsb -ranks 112 -turns 2 -repeats 1 -json", command.Done, []string{"node:4 core:28", "coolmuc-2 (Haswell"}},
		{"predict -lock mcs -bench ecsb -ranks 16,17 -nodes 2 -turns 1 -repeats 1 -csv", command.Done, []string{",node:2 core:8,16,", ",node:2 core:9+8,17,"}},
		{"predict -h", command.Done, []string{"-machine", "default 10ms", "-bench", "coolmuc-2"}},
		{"bench -h", command.Done, []string{"-bench", "wbab", "-fw", "-html"}},
		{"bench -lock mcs,C-mcs-m?s,rma-rw -bench ecsb -ranks 2 -turns 50 -fw 0.2,20", command.Done, []string{"ECSB: throughput of an empty section (HPDC16 §5", "mem     2      MCS ", "C-MCS-MCS", "RMA-RW, F_W 20 %"}},
		{"bench -lock d-mcs -bench lb,upb -window sim -nodes 2 -ranks 4 -turns 20 -repeats 1 -csv", command.Done, []string{"bench,lock,window,", "LB,D-MCS,sim,node:2 core:2,4,1,0,0,0,latency,ns,", ",3c,ns,"}},
		{"bench -lock mcs -bench lb,upb -ranks 2 -turns 20 -repeats 1 -json", command.Done, []string{`"name": "latency"`, `"skipped": [`, "UPB on node:1 core:2: want two ranks in each of two elements"}},
		{"taskbench -h", command.Done, []string{"-steps", "random_spread", "load_imbalance", "-metg", "channels"}},
		{"taskbench -steps 4 -width 4 -type tree -vv", command.Done, []string{"Timestep 2 (offset 0, width 4, last offset 0, last width 2):", "          Point 1: 2 3\n", "Total Tasks 11\nTotal Dependencies 10\n"}},
		{"taskbench -type fft -width 8 -and -type dom -steps 9 -system orwl,channels,barrier -v", command.Done, []string{"Task Graph 2:", "Dependence Type: dom", "System barrier", "Total Tasks 56\n"}},
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
		code, out, complaints := try(t, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("orwl-lab %s: exit code %d, want %d\n%s%s", c.args, code, c.code, out, complaints)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("orwl-lab %s: lacks %q:\n%s", c.args, want, out)
			}
		}
	}
}

// A command line that makes no sense ends with code 2 and says what to write.
func TestBadCommandLines(t *testing.T) {
	for args, want := range map[string]string{
		"":                            "usage: orwl-lab COMMAND",
		"bench -steps x":              `-vary: "x": `, // the old name
		"bench -bench nosuch":         `-bench: lab: no benchmark "nosuch": want LB, ECSB`,
		"bench -lock nosuch":          `-lock: lab: no lock "nosuch": want a name that orwl locks lists, a pattern, or all`,
		"bench -ranks 2,x":            `-ranks: "x": `,
		"bench -ranks 2 -nodes 3":     "want at least one rank for each of the 3 nodes",
		"bench -machine nosuch":       `no machine "nosuch": known are piz-daint`,
		"bench -window mem,moon":      `-window: "moon": want mem, shm, p2p, sim, or all`,
		"bench -fw 101":               `-fw: "101": want 0 to 100 percent`,
		"bench -time 0s":              "-time is 0s, want more than 0",
		"bench -inside 1":             `-inside: "1": time: missing unit`,
		"bench -json -csv":            "-json and -csv exclude each other",
		"bench -bench upb -ranks 2":   "there is nothing to play: lab: UPB on node:1 core:2",
		"sim extra":                   `-lock: no lock "extra": the nearest are `,
		"sim nolock":                  `-lock: no lock "nolock": the nearest are no-lock, ALock, DecLock; orwl locks lists the locks of the library, and orwl-lab sim -h the others`,
		"sim mcs":                     `unexpected argument "mcs": want -lock mcs`,
		"sim -lock hmsc":              `no lock "hmsc": the nearest are HMCS, MCS, D-MCS; `,
		"sim -lock mcs-no-flash":      `no lock "mcs-no-flash": the nearest are mcs-no-flush, `,
		"sim -lokc mcs":               "no flag -lokc (did you mean -lock?)",
		"sim -lock nosuch":            `no lock "nosuch": the nearest are `,
		"sim -lock mcs-flushed -tl 2": "-lock mcs-flushed has no options",
		"sim -lock MCS -tl 2":         "option TL is [2], want none: this lock has no such option",
		"sim -lock HMCS -tl 2,x":      `"x" is no number`,
		"sim -lock RMA-RW -tr -1":     "option TR is -1, want 1..",
		"sim -json -csv":              "-json and -csv exclude each other",
		"sim -acquire -1":             "-acquire is -1, want 0 to",
		"sim -ranks 257":              "-ranks is 257, want 1 to 256",
		"sim -seeds x":                `-seeds is "x", want a whole number`,
		"sim -seeds 0":                "-seeds is 0",
		"sim -topology rak:2":         `did you mean "rack"?`,
		"sim -lock mcs -play nosuch":  `-play "nosuch": MCS has no such play: they begin with states, crash, `,
		"sim -lock mcs -seed 1":       `-seed and -schedule repeat one play, and -play "" selects `,
		"sim -lock mcs-flushed -play states/core:2/operations -schedule [": "'[' without ']'",
		"sim -lock mcs-flushed -seed 1 -schedule 0":                        "exclude each other",
		"reproduce -out main_test.go/claims":                               "-out: mkdir main_test.go: not a directory",
		"reproduce -share 2":                                               `-share is "2", want K/N`,
		"reproduce -share 3/2":                                             `-share is "3/2", want K/N`,
		"reproduce -figure nosuch":                                         `-figure "nosuch" and -share 1/1 leave nothing to play: there are HPDC16 Fig. 3a`,
		"reproduce -figure [":                                              `-figure: "["`,
		"predict -machine nosuch":                                          `no machine "nosuch": known are piz-daint`,
		"predict -machine main_test.go":                                    "invalid character",
		"tune -window mem,shm -machine piz-daint":                          `-window is "mem,shm", want one`,
		"tune -bench lb,snap -machine piz-daint":                           "-bench: SNAP is no loop around one lock",
		"tune -goal speed":                                                 `-goal is "speed", want iteration`,
		"tune -default nosuch -machine piz-daint":                          `-default: no lock "nosuch"`,
		"tune -budget 0":                                                   "-budget is 0, want 1 to",
		"tune -cv -1":                                                      "-cv is -1, ",
		"model -machine nosuch":                                            `no machine "nosuch": known are piz-daint`,
		"model -validate -lock nosuch":                                     `-lock: lab: no lock "nosuch"`,
		"model -window smh":                                                `-window is "smh", want mem, shm or p2p`,
		"model -ranks 5000":                                                "-ranks is 5000, want 0 to 4096",
	} {
		code, _, complaints := try(t, strings.Fields(args)...)
		if code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("orwl-lab %s: exit code %d, want %d and %q:\n%s", args, code, command.Misused, want, complaints)
		}
	}
}

// The command that a failure prints repeats it.
func TestPrintedCommandRepeats(t *testing.T) {
	for _, args := range []string{"sim -lock rma-rw-checked", "sim -lock mcs-late-flag -play states", "sim -lock mcs-late-flag -play mixed", "sim -lock barging -play fair"} {
		_, first, _ := try(t, strings.Fields(args)...)
		_, rest, found := strings.Cut(first, "again: go -C lab run ./cmd/orwl-lab ")
		line, _, _ := strings.Cut(rest, "\n")
		if !found {
			t.Fatalf("orwl-lab %s prints no command:\n%s", args, first)
		}
		code, again, complaints := try(t, strings.Fields(strings.ReplaceAll(line, `"`, ""))...)
		_, want, _ := strings.Cut(first, "\n\n") // behind the counts of plays
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
