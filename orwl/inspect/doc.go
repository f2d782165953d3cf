// Package inspect describes a program at one moment: which task runs, what it holds, and which task
// waits for which. orwl.Runtime.Inspect and orwl.Options.OnStall give a [State]; package orwl has
// its types under the same names. Its String is a text for people, and its JSON is for programs:
//
//	a, round 7, holds x z, works
//	b, round 7, holds y, waits to read x for 4s ──▶ a
//
// A [Placement] says where the tasks of a run run, and why: orwl.Runtime.Placement gives it.
package inspect
