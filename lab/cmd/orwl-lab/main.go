package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/experiments"
)

var program = command.Program{Name: "orwl-lab", About: "the laboratory of ordered read-write locks", Commands: []command.Command{
	{Name: "bench", About: "run the papers' benchmarks of locks on goroutines, processes, nodes, or simulated",
		Example: "orwl-lab bench -bench LB -lock MCS", Groups: playGroups("window", "peers"), Run: runBench},
	{Name: "predict", About: "play the papers' benchmarks on a described or measured machine, in virtual time",
		Example: "orwl-lab predict -bench ECSB -lock D-MCS,RMA-MCS -machine piz-daint -ranks 16,64", Groups: playGroups("", ""), Run: runPredict},
	{Name: "model", About: "measure what this machine's operations cost, or compare predictions with it",
		Example: "orwl-lab model -ranks 2", Groups: []command.Group{
			{Title: "what to measure, or to show", Flags: "window ranks machine"}, {Title: "comparing predictions", Flags: "validate lock time turns repeats"},
			{Title: "output", Flags: "json csv"}}, Run: runModel},
	{Name: "reproduce", About: "play the papers' figures in virtual time, and say which of their claims hold",
		Example: "orwl-lab reproduce -out papers\norwl-lab reproduce -figure 'HPDC16 *' -html claims.html",
		Groups:  []command.Group{{Title: "what to play", Flags: "figure share"}, {Title: "output", Flags: "out json csv html"}}, Run: runReproduce},
	{Name: "tune", About: "find a lock and its options for a workload, and verify the gain",
		Example: "orwl-lab tune -bench WARB -fw 2 -ranks 8 -window shm", Groups: tuneGroups(), Run: runTune},
	{Name: "taskbench", About: "run Task Bench's task graphs, and find the smallest task that pays",
		Example: "orwl-lab taskbench -metg -type stencil_1d -kernel compute_bound", Groups: taskBenchGroups, Run: runTaskBench},
	{Name: "fair", About: "measure the library beside the strongest forms that we know, in turns",
		Example: "orwl-lab fair -case llk23*,cube", Groups: fairGroups, Run: runFair},
	{Name: "sim", About: "give a lock to the simulator and see whether it keeps its promises",
		Example: "orwl-lab sim -lock MCS", Groups: simGroups, Run: runSim},
	{Name: "experiments", About: "make the four experiments of the paper with llk23, and draw what came of them",
		Example: "orwl-lab experiments -for 15m -to results", Groups: experiments.Groups,
		Run: func(f *flag.FlagSet, args []string, out io.Writer) error {
			ctx, stop := untilInterrupt()
			defer stop()
			return experiments.Run(ctx, f, args, out)
		}},
}}

func main() {
	if arena.Child() {
		return
	}
	if started, err := measuringProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "orwl-lab model:", err)
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
