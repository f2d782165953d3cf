package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/orwl/speed"
)

// pace is what orwl vet -speed is told: how long a round of each task takes, and how many workers
// there are.
type pace struct {
	wanted  bool
	file    string
	workers int
	times   []time.Duration // by task
}

// usual is the time of each task if no file has it.
const usual = time.Microsecond

func newPace(f *flag.FlagSet) *pace {
	p := &pace{}
	f.BoolVar(&p.wanted, "speed", false, "say how long a round takes at least, and which tasks set the pace")
	f.StringVar(&p.file, "times", "", "with -speed: `FILE` has a line TASK DURATION for each task; 1µs for each if not given")
	f.Var(command.Whole(&p.workers, 0, 1<<20), "workers", "with -speed: `N` workers share the tasks; as many as processors if 0")
	return p
}

// read reads the times of a system's tasks.
func (p *pace) read(s liveness.System, system string) error {
	switch {
	case !p.wanted && p.file != "":
		return command.Misusef("-times is of no use without -speed: give both")
	case !p.wanted && p.workers != 0:
		return command.Misusef("-workers is of no use without -speed: give both")
	case !p.wanted:
		return nil
	}
	if p.workers == 0 {
		p.workers = runtime.GOMAXPROCS(0)
	}
	p.times = make([]time.Duration, len(s.Tasks))
	for t := range p.times {
		p.times[t] = usual
	}
	if p.file == "" {
		return nil
	}
	file, err := input(p.file, "a file with a line TASK DURATION for each task")
	if err != nil {
		return command.Misusef("-times: %s: %w", p.file, err)
	}
	defer file.Close()
	if err := readTimes(file, s, system, p.times); err != nil {
		return command.Misusef("%s: %w", p.file, err)
	}
	return nil
}

// readTimes reads a line with a name and a time for each task. A # begins a comment. A name is quoted as
// in the description of the system.
func readTimes(in io.Reader, s liveness.System, system string, times []time.Duration) error {
	tasks, given := make(map[string]int, len(s.Tasks)), make([]int, len(s.Tasks)) // by task: its line
	for t, task := range s.Tasks {
		tasks[task.Name] = t
	}
	var all time.Duration
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		name, rest, err := taskAndRest(lines.Text())
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		} else if name == "" {
			continue
		}
		t, known := tasks[name]
		took, err := time.ParseDuration(rest)
		switch {
		case !known:
			return fmt.Errorf("line %d: %s describes no task %s: leave the line out, or correct the name", number, system, legible(name))
		case given[t] > 0:
			return fmt.Errorf("line %d: line %d has a time for %s too: leave one out", number, given[t], legible(name))
		case rest == "":
			return fmt.Errorf("line %d: %s has no time: write one behind it, such as %[2]s 4.5µs", number, legible(name))
		case err != nil || took < 0:
			return fmt.Errorf("line %d: %s takes %q: want a time such as 800ns, 4.5µs or 2ms", number, legible(name), rest)
		case took > speed.Most-all:
			return fmt.Errorf("line %d: with %s all tasks together take more than %v: want less", number, legible(name), speed.Most)
		}
		times[t], given[t], all = took, number, all+took
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return missing(s, given)
}

// missing complains about tasks without a line.
func missing(s liveness.System, given []int) error {
	name, without := "", 0
	for t, line := range given {
		if line > 0 {
			continue
		}
		if without++; without == 1 {
			name = legible(s.Tasks[t].Name)
		}
	}
	switch without {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s has no time: add a line such as %[1]s 4.5µs", name)
	}
	return fmt.Errorf("%s and %d more have no time: add lines such as %[1]s 4.5µs", name, without-1)
}

// taskAndRest is the name at the beginning of a line, and the rest without a comment. An empty line has
// no name.
func taskAndRest(line string) (name, rest string, err error) {
	line = strings.TrimSpace(line)
	if quoted, err := strconv.QuotedPrefix(line); err == nil {
		name, rest = quoted, line[len(quoted):]
		if name, err = strconv.Unquote(quoted); err != nil || name == "" {
			return "", "", errors.New("the quoted name is empty: want the name of a task")
		}
	} else if strings.HasPrefix(line, `"`) {
		return "", "", errors.New(`the quoted name has no end: quote it as in Go, such as "row 1"`)
	} else {
		end := strings.IndexFunc(line, func(c rune) bool { return unicode.IsSpace(c) || c == '#' })
		if end < 0 {
			end = len(line)
		}
		name, rest = line[:end], line[end:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	return name, strings.TrimSpace(rest), nil
}

// shownTurns is the greatest number of tasks of a circle that the text shows.
const shownTurns = 12

// text is the bound in words, or nothing if it is not wanted.
func (p *pace) text(s liveness.System) string {
	if !p.wanted {
		return ""
	}
	var b strings.Builder
	if p.file == "" {
		fmt.Fprintf(&b, "each task takes %v: give -times FILE for others\n", usual)
	}
	bound := speed.Of(s, p.times)
	fmt.Fprintf(&b, "period at least %v: ", bound.Period())
	for i, turn := range bound.Circle {
		left := len(bound.Circle) - shownTurns
		switch {
		case left > 0 && i == shownTurns-1:
			fmt.Fprintf(&b, ", then %d more", left)
			continue
		case left > 0 && i >= shownTurns && i < len(bound.Circle)-1:
			continue
		case i > 0:
			b.WriteString(", then ")
		}
		b.WriteString(p.turn(s, turn))
	}
	switch {
	case len(bound.Circle) == 1:
		b.WriteString(" alone sets the pace")
	case bound.Rounds == 1:
		b.WriteString(" wait for each other in a circle of 1 round")
	default:
		fmt.Fprintf(&b, " wait for each other in a circle of %d rounds, %v in all", bound.Rounds, bound.Time)
	}
	workers := "1 worker"
	if p.workers > 1 {
		workers = fmt.Sprintf("%d workers", p.workers)
	}
	fmt.Fprintf(&b, "\nperiod at least %v with %s: all tasks together take %v\n", bound.WithWorkers(p.workers), workers, bound.Work)
	return b.String()
}

// turn is a task of the circle and its time.
func (p *pace) turn(s liveness.System, t speed.Turn) string {
	name, took := legible(s.Tasks[t.Task].Name), p.times[t.Task]
	if t.Time < took {
		return fmt.Sprintf("%s (an unknown part of %v)", name, took)
	}
	return fmt.Sprintf("%s (%v)", name, took)
}

// vettedSpeed is what orwl vet -speed -json says. Its times are seconds.
type vettedSpeed struct {
	Period        float64      `json:"period"`
	Rounds        int          `json:"rounds"` // of the circle
	Circle        []vettedTurn `json:"circle"`
	Workers       int          `json:"workers"`
	WorkersPeriod float64      `json:"workers_period"`
	Work          float64      `json:"work"` // of all tasks in a round
}

// vettedTurn is a task of the circle, and its time in it.
type vettedTurn struct {
	Task string  `json:"task"`
	Time float64 `json:"time"`
}

// vetted is the bound for a program to read, or nil if it is not wanted.
func (p *pace) vetted(s liveness.System) *vettedSpeed {
	if !p.wanted {
		return nil
	}
	bound := speed.Of(s, p.times)
	v := &vettedSpeed{Period: bound.Time.Seconds() / float64(bound.Rounds), Rounds: bound.Rounds,
		Workers: p.workers, WorkersPeriod: bound.Work.Seconds() / float64(p.workers), Work: bound.Work.Seconds()}
	for _, turn := range bound.Circle {
		v.Circle = append(v.Circle, vettedTurn{s.Tasks[turn.Task].Name, turn.Time.Seconds()})
	}
	return v
}
