package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

const vetFormat = `usage: orwl vet [FLAGS] FILE

Reads a system from FILE, or from standard input if FILE is -. Says that its tasks
take turns for ever, or else which of them wait for one another in a circle. A line
describes a task:

  # rows of a matrix
  task row1: write a, read b
  task row2: write b, read a @-1

First requests are made in the order of the lines, those of a lower priority @N
before those of a higher one; it is 0 if not given. The word ahead and a number, as in
"read a @-1 ahead 2", say how many rounds an access announces ahead. A name with
spaces or any of : , @ # is quoted.

A task holds all its accesses at once. After a second colon stands another order of
its round. It names the accesses by their numbers in the line:

  task row3: write c, read a @1: acquire 1, release 1, acquire 2, release 2

The exit code is 0 if all is well, 1 if there is a deadlock, and 2 if the file makes
no sense.

flags:
`

// runVet is orwl vet.
func runVet(f *flag.FlagSet, args []string, out io.Writer) error {
	order := f.Bool("order", false, "show the first requests in their order, for each resource; readers in one group are together")
	if helped, err := parse(f, args, vetFormat, out); helped || err != nil {
		return err
	}
	if f.NArg() == 0 {
		return command.Misusef("no file: name one, or - for standard input")
	} else if f.NArg() > 1 {
		return command.Misusef("unexpected argument %q: flags stand before the one FILE", f.Arg(1))
	}
	name := f.Arg(0)
	s, err := readSystem(name)
	if err != nil {
		return command.Misusef("%s: %w", name, err)
	}
	queues, err := startingQueues(s)
	if err != nil {
		return err
	}
	if *order {
		for _, q := range queues {
			fmt.Fprintln(out, q)
		}
	}
	begin := time.Now()
	if err := s.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(begin).Round(time.Microsecond)
	accesses := 0
	for _, task := range s.Tasks {
		accesses += len(task.Accesses)
	}
	fmt.Fprintf(out, "%s: alive: tasks %d, accesses %d, resources %d; checked in %v\n", name, len(s.Tasks), accesses, len(queues), took)
	return nil
}

// readSystem reads a system that has at least one task.
func readSystem(name string) (liveness.System, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return liveness.System{}, err
		}
		defer file.Close()
		in = file
	}
	s, err := liveness.Parse(in)
	if err == nil && len(s.Tasks) == 0 {
		err = errors.New("no task is described: orwl vet -h shows how")
	}
	return s, err
}

// startingQueue is the queue of a resource after the first requests.
type startingQueue struct {
	resource string
	fifo     liveness.FIFO
	tasks    []string // by ID
}

// startingQueues are the queues of all resources after the first requests, in the
// order in which the first requests meet the resources.
func startingQueues(s liveness.System) ([]*startingQueue, error) {
	var queues []*startingQueue
	of := make(map[string]*startingQueue)
	for _, first := range s.Order() {
		task := s.Tasks[first.Task]
		access := task.Accesses[first.Access]
		q := of[access.Resource]
		if q == nil {
			q = &startingQueue{resource: access.Resource}
			of[access.Resource] = q
			queues = append(queues, q)
		}
		if _, err := q.fifo.Request(resource.ID(len(q.tasks)), access.Mode, nil); err != nil {
			return nil, err
		}
		q.tasks = append(q.tasks, task.Name)
	}
	return queues, nil
}

// String is the queue in a line, its groups one after the other.
func (q *startingQueue) String() string {
	var groups []string
	q.fifo.All(func(group int, mode resource.Mode, id resource.ID) bool {
		if group == len(groups) {
			groups = append(groups, mode.String())
		}
		groups[group] += " " + legible(q.tasks[id])
		return true
	})
	return legible(q.resource) + ": " + strings.Join(groups, " | ")
}

// legible is a name, quoted where it would be taken for more or less than one.
func legible(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsAny(name, " |:") || quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}
