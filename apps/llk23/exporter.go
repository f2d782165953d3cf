package main

import "github.com/orwl/go-orwl/orwl"

// exporter is a sub-task of the paper's form, §4.1: it copies one edge or corner
// of its block to the frontier, while the main task may already read the
// neighbours' for the next iteration.
//
// Its watch has a clock only if there is a trace. There are many of them, and they
// have little to do.
type exporter struct {
	actor
	part *part
	out  outlet
	data *orwl.Access // read: what the main task has left
}

// export is all iterations. It waits for the main task first: when that has come
// so far, the neighbour has nearly always read the frontier before, and there is
// nothing more to wait for.
func (x *exporter) export(iters int) error {
	return x.rounds(iters, func(int) error {
		x.watch.enter(exporting)
		if _, err := x.acquire(x.data); err != nil {
			return err
		}
		if err := x.write(x.part.block, &x.out, x.part.left); err != nil {
			return err
		}
		return x.release(x.data)
	})
}
