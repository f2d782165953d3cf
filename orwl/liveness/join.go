package liveness

import (
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// JoinError tells why a system cannot be proven alive if it starts while another one runs.
type JoinError struct {
	Task     string // of the system that would start
	Access   int    // of the task, counted from 0
	Resource string
	Mode     resource.Mode
	Running  string // a running task whose access to the resource conflicts with it
	Reason   string
}

func (e *JoinError) Error() string {
	return fmt.Sprintf("liveness: task %s would %v %s (access %d), which %s uses and which runs: %s",
		spell(e.Task), e.Mode, spell(e.Resource), e.Access+1, spell(e.Running), e.Reason)
}

// Joins checks that the tasks of s may start while the system running goes on. It returns
// nil if no task of either comes to a stop, whatever the moment at which they start. running
// is alive, and its tasks may be anywhere in their rounds. Joins returns the error of
// [System.Check] if s alone comes to a stop, and a [*JoinError] if it cannot be proven alive
// beside running.
//
// waited says that a task of running waits for the end of s.
//
// # The rule
//
// An access of s is shared if it conflicts with an access of running. Tasks of s are in one
// part if one of them may wait for the other: accesses of theirs conflict, or both are in one
// part with a third one. s may start if
//
//   - each part has at most one shared access,
//   - a shared access that writes meets at most one running access that reads,
//   - nothing is shared if a task of running waits for the end of s.
//
// # Why it is enough
//
// Suppose that tasks come to a stop. Then there is a cycle of accesses, and each waits for
// the next one: that one is ahead in its queue, or its own task waits for that one first.
// The cycle does not stay in s, which is alive alone, and not in running. So it enters a
// part of s and leaves it. It does both by the part's only shared access y, in rounds i and
// j of it:
//
//	x' of running waits for y(j), which waits, by accesses of the part, for y(i), which waits for x of running
//
// An access waits for none of its task's later rounds, so i ≤ j. All four are in one queue:
// x is ahead of y(i), which is y(j) or ahead of it, which is ahead of x'. So x is ahead of x'.
// x and x' both conflict with y. If y reads, both write. If y writes, at most one of the
// accesses of running reads, so x and x' conflict, or they are two rounds of one access. In
// the first case x' waits for x without s, and the cycle is one of running too. The second
// case cannot be: a round of an access does not wait for its task's later rounds. With each
// visit to s replaced so, the cycle is one of running alone. The order of conflicting
// requests of running is the same with s and without it. So running has a deadlock. But it is
// alive.
//
// The system of both is then what runs, and another one may join it. If a task of running
// waits for the end of s, it adds waits for s. They lead nowhere, since no access of s waits
// for one of running.
//
// A shared access may write beside two readers only if they wait for each other in no round.
// Joins does not look for that. Two shared accesses of a part would have to be requested in
// one moment of the whole running system, between its rounds. There is no such moment.
func (s System) Joins(running System, waited bool) error {
	if err := s.Check(); err != nil {
		return err
	}
	used := running.uses()
	part := s.parts()
	shared := make(map[int]First) // of each part that has one
	for t, task := range s.Tasks {
		for a, access := range task.Accesses {
			u := used[access.Resource]
			if u == nil || access.Mode == resource.Read && u.writes == 0 {
				continue
			}
			wrong := JoinError{Task: task.Name, Access: a, Resource: access.Resource, Mode: access.Mode, Running: u.writer}
			if u.writes == 0 {
				wrong.Running = u.reader
			}
			if waited {
				wrong.Reason = "a task that waits for the end of others may hold or have announced what they wait for: use resources that no running task uses"
				return &wrong
			}
			if access.Mode == resource.Write && u.reads > 1 {
				wrong.Reason = fmt.Sprintf("%d accesses of running tasks read it, and the write may come between two of them that wait for each other: write a resource that at most one of them reads", u.reads)
				return &wrong
			}
			if first, another := shared[part[t]]; another {
				wrong.Reason = fmt.Sprintf("task %s, which is the same task or may wait for it, shares %s with running tasks too: share one access, by one of these tasks",
					spell(s.Tasks[first.Task].Name), spell(s.access(first).Resource))
				return &wrong
			}
			shared[part[t]] = First{Task: t, Access: a}
		}
	}
	return nil
}

// use is how the tasks of a system use a resource.
type use struct {
	reads, writes  int    // accesses
	reader, writer string // the first tasks
}

func (s System) uses() map[string]*use {
	uses := make(map[string]*use)
	for _, task := range s.Tasks {
		for _, access := range task.Accesses {
			u := uses[access.Resource]
			if u == nil {
				u = new(use)
				uses[access.Resource] = u
			}
			count, name := &u.reads, &u.reader
			if access.Mode == resource.Write {
				count, name = &u.writes, &u.writer
			}
			if *count++; *count == 1 {
				*name = task.Name
			}
		}
	}
	return uses
}

// parts returns the part of each task, as the number of one of its tasks. Tasks that use a
// resource that some task writes are in one part.
func (s System) parts() []int {
	part := make([]int, len(s.Tasks))
	for t := range part {
		part[t] = t
	}
	root := func(t int) int {
		for part[t] != t {
			part[t] = part[part[t]]
			t = part[t]
		}
		return t
	}
	uses, first := s.uses(), make(map[string]int)
	for t, task := range s.Tasks {
		for _, access := range task.Accesses {
			if uses[access.Resource].writes == 0 {
				continue
			}
			if other, met := first[access.Resource]; met {
				part[root(t)] = root(other)
			} else {
				first[access.Resource] = t
			}
		}
	}
	for t := range part {
		part[t] = root(t)
	}
	return part
}
