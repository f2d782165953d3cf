// Package play is the simulator behind the page of orwl play: it proves a system of tasks and plays it step by step, and explores
// the schedules of a lock. The answers are trees of maps, lists, texts and numbers, as JavaScript has them.
//
//	answer := play.Check("task a: write x\ntask b: read x")
//	fmt.Println(answer["alive"])
//	// Output:
//	// true
//
// Folder wasm has the program for browsers. It is built by orwl play, and stays small: at most a million bytes, gzipped. So
// nothing here imports encoding/json, or anything that does.
package play
