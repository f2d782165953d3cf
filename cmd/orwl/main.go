package main

import (
	"fmt"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/lab/arena"
)

var program = command.Program{Name: "orwl", Commands: []command.Command{
	{Name: "run", About: "start a program on several nodes of this machine, and end them together", Run: runRun},
	{Name: "serve", About: "keep locks by name for any process: orwl lock, and programs that dial", Run: runServe},
	{Name: "lock", About: "run a command while a lock is held, as flock does, on any machine", Run: runLock},
	{Name: "holders", About: "show who holds a lock by name and who waits, or release one by force", Run: runHolders},
	{Name: "locks", About: "show the table of locks: what each promises, takes and costs", Run: runLocks},
	{Name: "sim", About: "give a lock to the simulator and see whether it keeps its promises", Run: runSim},
	{Name: "bench", About: "run the papers' benchmarks of locks on goroutines, processes, nodes or the simulator", Run: runBench},
	{Name: "predict", About: "play a lock on a described machine in virtual time", Run: runPredict},
	{Name: "vet", About: "say whether a system of tasks lives for ever, or where it deadlocks", Run: runVet},
	{Name: "trace", About: "say where the time of a recorded run went, and which tasks it waited for", Run: runTrace},
	{Name: "topo", About: "show the machine as the tree that the locks see", Run: runTopo},
	{Name: "place", About: "put tasks near those they share with, on a described machine", Run: runPlace},
	{Name: "model", About: "measure what this machine's operations cost", Run: runModel},
	{Name: "taskbench", About: "run Task Bench's task graphs, and find the smallest task that pays", Run: runTaskBench},
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
