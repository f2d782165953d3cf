package main

import (
	"fmt"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/lab/arena"
)

var program = command.Program{Name: "orwl", About: "the toolbox of ordered read-write locks", Commands: []command.Command{
	{Name: "run", About: "start a program on several nodes of this machine, and end them together",
		Example: "orwl run -n 4 -- ./prog -size 1000", Run: runRun},
	{Name: "serve", About: "keep locks by name for any process: orwl lock, and programs that dial",
		Example: "orwl serve -listen 127.0.0.1:6795", Run: runServe},
	{Name: "lock", About: "run a command while a lock is held, as flock does, on any machine",
		Example: "orwl lock backup -- ./backup.sh", Run: runLock},
	{Name: "holders", About: "show who holds a lock by name and who waits, or release one by force",
		Example: "orwl holders -watch backup", Run: runHolders},
	{Name: "locks", About: "show the table of locks: what each promises, takes and costs",
		Example: "orwl locks -topology node:2,core:8", Run: runLocks},
	{Name: "sim", About: "give a lock to the simulator and see whether it keeps its promises",
		Example: "orwl sim -lock MCS -exhaust", Run: runSim},
	{Name: "bench", About: "run the papers' benchmarks of locks on goroutines, processes, nodes or the simulator",
		Example: "orwl bench -bench LB -lock MCS", Run: runBench},
	{Name: "predict", About: "play the papers' benchmarks on a described or measured machine, in virtual time",
		Example: "orwl predict -bench ECSB -lock D-MCS,RMA-MCS -machine piz-daint -ranks 16,64", Run: runPredict},
	{Name: "tune", About: "find a lock and its options for a workload, and verify the gain",
		Example: "orwl tune -bench WARB -fw 2 -ranks 8 -window shm", Run: runTune},
	{Name: "reproduce", About: "play the papers' figures in virtual time, and say which of their claims hold",
		Example: "orwl reproduce -figure '000 *' -html claims.html", Run: runReproduce},
	{Name: "vet", About: "say whether a system of tasks lives for ever, or where it deadlocks",
		Example: "orwl vet tasks.txt", Run: runVet},
	{Name: "trace", About: "say where the time of a recorded run went, and which tasks it waited for",
		Example: "orwl trace report run.json", Run: runTrace},
	{Name: "topo", About: "show the machine as the tree that the locks see",
		Example: "orwl topo", Run: runTopo},
	{Name: "place", About: "put tasks near those they share with, on a described machine",
		Example: "orwl place -topology node:2,core:4 -graph ring:16", Run: runPlace},
	{Name: "model", About: "measure what this machine's operations cost, or compare predictions with it",
		Example: "orwl model -ranks 2", Run: runModel},
	{Name: "taskbench", About: "run Task Bench's task graphs, and find the smallest task that pays",
		Example: "orwl taskbench -metg -type stencil_1d -kernel compute_bound", Run: runTaskBench},
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
