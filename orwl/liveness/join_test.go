package liveness

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/resource"
)

// joining lets the last tasks of a system, from number first on, join those before them: in
// some order of events, their first requests are made one by one, and then they start.
func joining(s System, first int) *played {
	p := newPlayed(s)
	for _, q := range p.queues {
		*q = slices.DeleteFunc(*q, func(r playedRequest) bool { return r.of.Task >= first })
	}
	p.joins = first
	for _, f := range (System{s.Tasks[first:]}).Order() {
		p.late = append(p.late, First{Task: f.Task + first, Access: f.Access})
	}
	return p
}

// randomJoin draws a running system and one that would join it. A third of its accesses
// are to resources of its own.
func randomJoin(r *rand.Rand) (running, joins System) {
	s := randomSystem(r)
	s.Tasks = s.Tasks[:min(len(s.Tasks), 2+r.IntN(2))]
	at := len(s.Tasks) - 1 - r.IntN(min(2, len(s.Tasks)-1))
	running, joins = System{s.Tasks[:at]}, System{s.Tasks[at:]}
	for _, task := range joins.Tasks {
		for a := range task.Accesses {
			if r.IntN(3) == 0 {
				task.Accesses[a].Resource = "own " + task.Accesses[a].Resource
			}
		}
	}
	return running, joins
}

// Whatever the moment at which tasks join a running system, in every schedule: if Joins
// permits it, no task comes to a stop for ever. Some of those that it refuses do.
func TestJoinsInAllSchedules(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	permitted, shared, refused, stop, n := 0, 0, 0, 0, 0
	for seed := range systems.Part(1, 4) {
		n++
		running, joins := randomJoin(rand.New(rand.NewPCG(seed, 6)))
		if running.Check() != nil || joins.Check() != nil {
			continue
		}
		both := System{slices.Concat(running.Tasks, joins.Tasks)}
		e, ok := explore(joining(both, len(running.Tasks)))
		if !ok {
			continue
		}
		lost := slices.ContainsFunc(both.round(), func(f First) bool { return !e.neverLost(f.Task) || !e.ends[f.Task] })
		var wrong *JoinError
		switch err := joins.Joins(running, false); {
		case err == nil && lost:
			t.Fatalf("seed %d: permitted, but a task comes to a stop, in\n%s\njoined by\n%s", seed, running, joins)
		case err == nil:
			permitted++
			if joins.Joins(running, true) != nil {
				shared++
			}
		case !errors.As(err, &wrong):
			t.Fatal(err)
		default:
			if refused++; lost {
				stop++
			}
		}
	}
	t.Logf("%d may join, %d of them share a resource; %d may not, and %d of them can come to a stop", permitted, shared, refused, stop)
	// A share need not have enough of each.
	if first, _ := systems.Span(); first == 0 && (permitted < n/5 || shared < n/15 || refused < n/50 || stop < n/100) {
		t.Error("too few")
	}
}

// What Joins permits and refuses, and what it says.
func TestJoins(t *testing.T) {
	const running = "task a: write r, write s, read c; task b: read r; task d: read c, read q; task w: write q"
	for text, want := range map[string]string{
		"task x: write own, write other":                      "",
		"task x: read c; task y: read c, write own":           "",
		"task x: read r":                                      "",
		"task x: read r, write own; task y: read s":           "",
		"task x: write s; task y: write q":                    "",
		"task x: write r":                                     "",
		"task x: write c":                                     `task x would write c (access 1), which a uses and which runs: 2 accesses of running tasks read it`,
		"task x: read r, read s":                              `task x would read s (access 2), which a uses and which runs: task x, which is the same task or may wait for it, shares r`,
		"task x: read r, write own; task y: read own, read s": `task y would read s (access 2), which a uses and which runs: task x, which`,
		"task x: write own, write own":                        "deadlock",
	} {
		err := system(t, text).Joins(system(t, running), false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// A task that waits for their end shares nothing with them that a task writes.
	if err := system(t, "task x: read r").Joins(system(t, running), true); err == nil || !strings.Contains(err.Error(), "waits for the end") {
		t.Error(err)
	}
	if err := system(t, "task x: read c, write own").Joins(system(t, running), true); err != nil {
		t.Error(err)
	}
}

// The specimen of a write between two readers that wait for each other: a task reads r twice,
// and a write comes between its two requests.
func TestWriteBetweenReaders(t *testing.T) {
	both := system(t, "task a: read r, read r; task x: write r")
	e, ok := explore(joining(both, 1))
	if !ok || e.neverLost(0) {
		t.Error("the task is never lost")
	}
	var wrong *JoinError
	if err := (System{both.Tasks[1:]}).Joins(System{both.Tasks[:1]}, false); !errors.As(err, &wrong) || wrong.Mode != resource.Write {
		t.Error(err)
	}
}
