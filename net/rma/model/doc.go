// Package model describes a machine by the costs of its window operations.
//
// A [Model] has a [Cost] for each kind of operation and each level of the machine
// tree: Alpha + Beta·bytes nanoseconds, and how long the target is busy. Where ranks share
// memory, the model has the cost of instructions, and tells a line in the own cache from one
// that another rank has changed. A [Scheduler] says that ranks share processors. net/sim takes a model as the machine that it
// simulates.
package model
