package main

import "github.com/orwl/go-orwl/orwl"

// exporter is a sub-task of the paper's form, §4.1: a step task that copies one edge or
// corner of its block to the frontier, when the last stage of the block has ended.
//
// Its watch has a clock only if there is a trace. There are many exporters, and they
// have little to do.
type exporter struct {
	*orwl.Task
	part  *part
	out   outlet
	watch stopwatch
}

// round is the exporter's part of pass k of so many. The part's watch shows when its
// last stage ended: no stage runs while an exporter does.
func (x *exporter) round(passes, k int) {
	x.watch.enter(exporting)
	x.out.write(x.part.block, x.part.watch.since)
	x.watch.rest(k == passes-1)
}
