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
	return command.Program{Name: "dht", About: "a distributed hash table that speaks to redis clients", Commands: []command.Command{
		{Name: "serve", About: "serve a hash table, in memory only, to redis clients",
			Example: "dht serve -nodes 2 -memory 1024", Run: serveTo(complaints)},
		{Name: "bench", About: "look up and insert elements of one volume from all other ranks, as the paper does",
			Example: "dht bench -fabric sim -ranks 16,64 -ops 50", Run: runBench},
	}}.Execute(args, out, complaints)
}
