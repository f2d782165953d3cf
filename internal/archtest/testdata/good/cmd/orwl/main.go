package main

import "github.com/orwl/go-orwl/net/mem"

func main() { Exported() }

func Exported() { mem.Ranks() }
