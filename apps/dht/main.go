package main

import (
	"fmt"
	"io"
	"os"

	"github.com/orwl/go-orwl/internal/command"
)

func main() {
	if started, err := benchProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "dht bench:", err)
			os.Exit(command.Failed)
		}
		return
	}
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, out, complaints io.Writer) int {
	return itself(complaints).Execute(args, out, complaints)
}

// itself is the program, whose server says what it does to complaints.
func itself(complaints io.Writer) command.Program {
	return command.Program{Name: "dht", About: "a distributed hash table that speaks to redis clients", Commands: []command.Command{
		{Name: "serve", About: "serve a hash table, in memory only, to redis clients",
			Text:    "All keys are kept in memory only: those of a node are gone when it ends.",
			Example: "dht serve -nodes 2 -memory 1024\nDHT_PASSWORD=... dht serve -listen :6379",
			Groups: []command.Group{{Title: "clients", Flags: "listen password-file clients idle bulk"},
				{Title: "the table", Flags: "memory volumes guard"}, {Title: "nodes", Flags: "nodes ssh join"}, {Title: "watching", Flags: "metrics"}},
			Run: serveTo(complaints)},
		{Name: "bench", About: "look up and insert elements of one volume from all other ranks, as the paper does",
			Example: "dht bench -window sim -ranks 16,64 -ops 50",
			Groups: []command.Group{{Title: "what to compute", Flags: "fw disciplines ops elements buckets heap seed"},
				{Title: "where", Flags: "window ranks topology machine nodes repeats"}, {Title: "options of RMA-RW", Flags: "tl tdc tr"},
				{Title: "output", Flags: "json csv"}},
			Run: runBench},
	}}
}
