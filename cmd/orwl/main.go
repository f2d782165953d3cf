package main

import (
	"fmt"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/lab/arena"
)

var program = command.Program{Name: "orwl", About: "the toolbox of ordered read-write locks", Commands: []command.Command{
	{Name: "run", About: "start a program on several nodes of this machine, and end them together",
		Usage: "orwl run [FLAGS] [--] PROGRAM [ARGUMENT...]", Text: runText,
		Example: "orwl run -nodes 4 -- ./prog -size 1000\norwl run -ssh node[1-4] -- ./prog",
		Groups:  []command.Group{{Title: "nodes", Flags: "nodes ssh listen begin restarts"}}, Run: runRun},
	{Name: "serve", About: "keep locks by name for any process: orwl lock, and programs that dial",
		Text: serveText, Example: "orwl serve -listen 127.0.0.1:6795",
		Groups: []command.Group{{Title: "where and for how long", Flags: "listen find lease metrics"}}, Run: runServe},
	{Name: "lock", About: "run a command while a lock is held, as flock does, on any machine",
		Usage: "orwl lock [FLAGS] NAME -- COMMAND [ARGUMENT...]", Text: lockText, Example: "orwl lock backup -- ./backup.sh",
		Groups: []command.Group{{Title: "how to wait", Flags: "try wait read"}, {Title: "the server", Flags: "at find"}}, Run: runLock},
	{Name: "holders", About: "show who holds a lock by name and who waits, or release one by force",
		Usage: holdersUsage, Text: holdersText, Example: "orwl holders -watch backup",
		Groups: []command.Group{{Title: "what to do", Flags: "watch release fence"}, {Title: "the server", Flags: "at find"}, {Title: "output", Flags: "json"}}, Run: runHolders},
	{Name: "locks", About: "show the table of locks: what each promises, takes and costs",
		Example: "orwl locks -topology node:2,core:8",
		Groups:  []command.Group{{Title: "what to show", Flags: "topology json"}}, Run: runLocks},
	{Name: "sim", About: "give a lock to the simulator and see whether it keeps its promises",
		Example: "orwl sim -lock MCS -exhaust", Groups: simGroups, Run: runSim},
	{Name: "bench", About: "run the papers' benchmarks of locks on goroutines, processes, nodes or the simulator",
		Example: "orwl bench -bench LB -lock MCS", Groups: playGroups("window", "peers"), Run: runBench},
	{Name: "predict", About: "play the papers' benchmarks on a described or measured machine, in virtual time",
		Example: "orwl predict -bench ECSB -lock D-MCS,RMA-MCS -machine piz-daint -ranks 16,64", Groups: playGroups("", ""), Run: runPredict},
	{Name: "tune", About: "find a lock and its options for a workload, and verify the gain",
		Example: "orwl tune -bench WARB -fw 2 -ranks 8 -window shm", Groups: tuneGroups(), Run: runTune},
	{Name: "reproduce", About: "play the papers' figures in virtual time, and say which of their claims hold",
		Example: "orwl reproduce -figure 'HPDC16 *' -html claims.html",
		Groups:  []command.Group{{Title: "what to play", Flags: "figure share"}, {Title: "output", Flags: "json csv html"}}, Run: runReproduce},
	{Name: "vet", About: "say whether a system of tasks lives for ever, or where it deadlocks",
		Usage: "orwl vet [FLAGS] FILE", Text: vetText, Example: "orwl vet tasks.txt\norwl vet -speed -times times.txt tasks.txt",
		Groups: []command.Group{{Title: "speed", Flags: "speed times workers"}, {Title: "output", Flags: "order json"}}, Run: runVet},
	{Name: "trace", About: "say where the time of a recorded run went, and which tasks it waited for",
		Usage: "orwl trace report [FLAGS] FILE", Text: traceText, Example: "orwl trace report run.json",
		Groups: []command.Group{{Title: "output", Flags: "waits json"}}, Run: runTrace},
	{Name: "topo", About: "show the machine as the tree that the locks see",
		Example: "orwl topo\norwl topo -under \"node:4\"",
		Groups:  []command.Group{{Title: "which machine", Flags: "topology under ranks"}, {Title: "output", Flags: "json"}}, Run: runTopo},
	{Name: "place", About: "put tasks near those they share with, on a described machine",
		Example: "orwl place -topology node:2,core:4 -graph ring:16",
		Groups:  []command.Group{{Title: "what to place", Flags: "graph topology"}, {Title: "output", Flags: "why task json"}}, Run: runPlace},
	{Name: "model", About: "measure what this machine's operations cost, or compare predictions with it",
		Example: "orwl model -ranks 2", Groups: []command.Group{
			{Title: "what to measure, or to show", Flags: "window ranks machine"}, {Title: "comparing predictions", Flags: "validate lock time turns repeats"},
			{Title: "output", Flags: "json csv"}}, Run: runModel},
	{Name: "taskbench", About: "run Task Bench's task graphs, and find the smallest task that pays",
		Example: "orwl taskbench -metg -type stencil_1d -kernel compute_bound", Groups: taskBenchGroups, Run: runTaskBench},
}}

func main() {
	if arena.Child() {
		return
	}
	if started, err := measuringProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "orwl model:", err)
			os.Exit(command.Failed)
		}
		return
	}
	os.Exit(program.Execute(os.Args[1:], os.Stdout, os.Stderr))
}

// inRange complains about a number outside its range.
func inRange(name string, value, least, most int) error {
	if value < least || value > most {
		return command.Misusef("-%s is %d, want %d to %d", name, value, least, most)
	}
	return nil
}
