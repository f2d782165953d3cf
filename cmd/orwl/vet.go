package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

const vetText = `Reads a system from FILE, or from standard input if FILE is -. Says that its tasks
take turns for ever, or else which of them wait for one another in a circle. A line
describes a task:

  # rows of a matrix
  task row1: write a, read b
  task row2: write b, read a @-1

First requests are made in the order of the lines, those of a lower priority @N
before those of a higher one; it is 0 if not given. A name with spaces or any of
: , @ # is quoted.

A task holds all its accesses at once. After a second colon stands another order of
its round. It names the accesses by their numbers in the line:

  task row3: write c, read a @1: acquire 1, release 1, acquire 2, release 2

-speed says how long a round takes at least, however many workers there are: a circle
of tasks that wait for each other sets the pace. -times names a file with the time that
a round of each task takes, its waiting left out, in lines such as

  row1 4.5µs
  row2 12us

Without it each task takes 1µs. The circle is in the order in which its tasks run. A
task with another order of its round counts in full alone, and not in a circle with
others: it is not known which part of its time lies there.

-lives runs a program instead, once as it is and then N times with lives that end at
random cuts, without any fault: see ORWL_LIVES. It must print the same lines each time,
in any order. If it does not, a body keeps state where no cut has it.

  orwl vet -lives 10 -- orwl run -nodes 3 -- ./prog

The exit code is 0 if all is well, 1 if there is a deadlock, or a run has another end,
and 2 if the file makes no sense.
`

// runVet is orwl vet.
func runVet(f *flag.FlagSet, args []string, out io.Writer) error {
	order := f.Bool("order", false, "show the first requests in their order, for each resource; readers in one group are together")
	asJSON := f.Bool("json", false, command.Usage("json", ", with all first requests"))
	pace := newPace(f)
	var l vettedLives
	f.Var(command.Whole(&l.count, 0, 1<<20), "lives", "run a program `N` times with lives that end at random cuts: its name and arguments stand in the place of FILE")
	f.StringVar(&l.ignore, "ignore", "", "with -lives: lines that match `REGEXP` may differ, such as times")
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	switch {
	case l.count > 0 && f.NArg() > 0:
		return l.vet(out, f.Args())
	case l.count > 0:
		return command.Misusef("no program: its name and arguments stand behind --")
	case l.ignore != "":
		return command.Misusef("-ignore is of no use without -lives: give both")
	case f.NArg() == 0:
		return command.Misusef("no file: name one, or - for standard input")
	case f.NArg() > 1:
		return command.Misusef("unexpected argument %q: flags stand before the one FILE", f.Arg(1))
	}
	name := f.Arg(0)
	s, err := readSystem(name)
	if err != nil {
		return command.Misusef("%s: %w", name, err)
	}
	if err := pace.read(s, name); err != nil {
		return err
	}
	queues, err := startingQueues(s)
	if err != nil {
		return err
	}
	if *order && !*asJSON {
		for _, q := range queues {
			fmt.Fprintln(out, q)
		}
	}
	begin := time.Now()
	wrong := s.Check()
	took := time.Since(begin)
	if wrong != nil {
		wrong = fmt.Errorf("%s: %w", name, wrong)
	}
	accesses := 0
	for _, task := range s.Tasks {
		accesses += len(task.Accesses)
	}
	switch {
	case *asJSON:
		v := vetted{File: name, Alive: wrong == nil, Tasks: len(s.Tasks), Accesses: accesses, Seconds: took.Seconds()}
		for _, q := range queues {
			v.Resources = append(v.Resources, vettedResource{q.resource, q.groups()})
		}
		var deadlock *liveness.DeadlockError
		if errors.As(wrong, &deadlock) {
			v.Stuck = deadlock.Stuck
			for _, w := range deadlock.Cycle {
				v.Cycle = append(v.Cycle, vettedWait{w.Task, w.Mode.String(), w.Resource, w.For})
			}
		}
		if wrong == nil {
			v.Speed = pace.vetted(s)
		}
		return errors.Join(writeJSON(out, v), wrong)
	case wrong != nil:
		return wrong
	}
	_, err = fmt.Fprintf(out, "%s: alive: tasks %d, accesses %d, resources %d; checked in %v\n%s",
		name, len(s.Tasks), accesses, len(queues), took.Round(time.Microsecond), pace.text(s))
	return err
}

// vetted is what orwl vet -json says of a system.
type vetted struct {
	File      string           `json:"file"`
	Alive     bool             `json:"alive"`
	Tasks     int              `json:"tasks"`
	Accesses  int              `json:"accesses"`
	Seconds   float64          `json:"seconds"` // the time that the check took
	Resources []vettedResource `json:"resources"`
	Stuck     int              `json:"stuck,omitempty"` // tasks that would never end a round
	Cycle     []vettedWait     `json:"cycle,omitempty"`
	Speed     *vettedSpeed     `json:"speed,omitempty"`
}

// vettedResource is a resource and its first requests, in groups that are granted at once.
type vettedResource struct {
	Name   string        `json:"name"`
	Groups []vettedGroup `json:"groups"`
}

type vettedGroup struct {
	Mode  string   `json:"mode"`
	Tasks []string `json:"tasks"`
}

// vettedWait is a task that waits for another for ever.
type vettedWait struct {
	Task     string `json:"task"`
	Mode     string `json:"mode"`
	Resource string `json:"resource"`
	For      string `json:"for"`
}

// readSystem reads a system that has at least one task.
func readSystem(name string) (liveness.System, error) {
	in := os.Stdin
	if name != "-" {
		file, err := input(name, "a file that describes tasks: orwl vet -h shows how")
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
		if _, err := q.fifo.Request(queue.ID(len(q.tasks)), access.Mode, nil); err != nil {
			return nil, err
		}
		q.tasks = append(q.tasks, task.Name)
	}
	return queues, nil
}

// groups are what the queue grants, one after the other.
func (q *startingQueue) groups() (groups []vettedGroup) {
	q.fifo.All(func(group int, mode queue.Mode, id queue.ID) bool {
		if group == len(groups) {
			groups = append(groups, vettedGroup{Mode: mode.String()})
		}
		groups[group].Tasks = append(groups[group].Tasks, q.tasks[id])
		return true
	})
	return groups
}

// String is the queue in a line, its groups one after the other.
func (q *startingQueue) String() string {
	var groups []string
	for _, g := range q.groups() {
		text := g.Mode
		for _, task := range g.Tasks {
			text += " " + legible(task)
		}
		groups = append(groups, text)
	}
	return legible(q.resource) + ": " + strings.Join(groups, " | ")
}

// legible is a name, quoted where it would be taken for more or less than one.
func legible(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsAny(name, " |:") || quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}

// vettedLives is what orwl vet -lives is told.
type vettedLives struct {
	count  int
	ignore string
}

// ofNode is what a launcher says of the node that prints a line. It is another one in another life.
var ofNode = regexp.MustCompile(`^\[[0-9]+[^]]*\] `)

// goesOn is what the log of a run says when a life begins from a cut.
const goesOn = "orwl: the run goes on"

// vet runs a program once as it is, and then with lives that end at random cuts, by a seed each. It must print the same lines.
func (v vettedLives) vet(out io.Writer, program []string) error {
	ignore, err := regexp.Compile(v.ignore)
	if err != nil {
		return err
	}
	want, _, err := v.run(program, ignore, "")
	if err != nil {
		return fmt.Errorf("%s fails without lives that end: %w", program[0], err)
	}
	ended := 0
	for seed := 1; seed <= v.count; seed++ {
		lives := fmt.Sprintf("ORWL_LIVES=%d", seed)
		got, n, err := v.run(program, ignore, lives)
		if err != nil {
			return fmt.Errorf("%s %s: %w", lives, program[0], err)
		}
		if line := different(got, want); line != "" {
			return fmt.Errorf("%s %s prints other lines: %s\nA body may keep state outside of resources, or ask a clock or random numbers. "+
				"If the line is no result, ignore such lines: -ignore", lives, strings.Join(program, " "), line)
		}
		ended += n
	}
	if ended == 0 {
		return errors.New("no life has ended: the program is over too soon, or it cannot survive, as orwl.Run says")
	}
	_, err = fmt.Fprintf(out, "%s: the same lines %d times, over %d ends of lives\n", program[0], v.count, ended)
	return err
}

// run runs a program with a variable, and returns the lines that it prints, sorted, because nodes print at the same time. ended is how
// many lives have ended, as the logs of all nodes say.
func (v vettedLives) run(program []string, ignore *regexp.Regexp, variable string) (lines []string, ended int, err error) {
	var stdout, stderr bytes.Buffer
	c := exec.Command(program[0], program[1:]...)
	c.Env = append(os.Environ(), "ORWL_LIVES=") // an empty variable counts as none
	if variable != "" {
		c.Env = append(c.Env, variable)
	}
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		line = ofNode.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
		if v.ignore == "" || !ignore.MatchString(line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines, strings.Count(stderr.String(), goesOn), nil
}

// different is a line that only one of two sorted lists has, "" if they are the same.
func different(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return fmt.Sprintf("%q is missing", want[i])
		case i >= len(want) || got[i] < want[i]:
			return fmt.Sprintf("%q is too much", got[i])
		}
	}
	return ""
}
