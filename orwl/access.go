package orwl

import (
	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
)

// Access is what a task does with a resource in each round: see [Reads] and [Writes].
//
// A run grants it before each round of [Task.Each], and ends it after the round.
type Access struct {
	place    queue.Place
	memo     typed.Memo
	task     *Task
	resource *queue.Resource
	mode     queue.Mode
	number   int32 // in its task
}

// read is the resource's bytes as elements of type T, while the task holds it. On
// misuse it ends the task with the error that [handle.Read] returns.
func read[T any](a *Access) handle.View[T] {
	a.task.own(a)
	v, err := typed.Read[T](&a.place, &a.memo)
	if err != nil {
		panic(misuse{err})
	}
	return handle.View[T](v)
}

// write is the resource's bytes as elements of type T, to change while the task holds
// it. On misuse it ends the task with the error that [handle.Write] returns.
func write[T any](a *Access) []T {
	a.task.own(a)
	s, err := typed.Write[T](&a.place, &a.memo)
	if err != nil {
		panic(misuse{err})
	}
	return s
}
