package worlds

import (
	"bytes"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// TestCases plays worlds in which there was a mistake.
func TestCases(t *testing.T) {
	rings.Computes(t)
	for name, c := range map[string]struct {
		seed         uint64 // of the delays
		count, disks int
		runs         program
		faults       []*fault
	}{
		"each cut that the disk did not take doubled how far ahead the next one was": {2857, 4, 1, ring{[]int{34, 84, 99, 123, 123, 93, 9}},
			[]*fault{{kind: "full", seat: 3, event: "copy", nth: 1, length: 990 * time.Millisecond}}},
		"the chair asked for the cut that a disk had not taken, and nobody heeded that": {1366, 5, 1, ring{[]int{20, 87, 71}},
			[]*fault{{kind: "full", seat: 1, after: 294571221, length: 1525 * time.Millisecond}}},
		"a node that left had on its disk what the others had forgotten, and so it stayed for ever": {1, 2, 2, stages{32, 32, 10},
			[]*fault{{kind: "leave", seat: 1, after: 450 * time.Millisecond}}},
		"a node was silent between two runs, and an access that failed for that ended the run": {551, 3, 0, stages{7, 3},
			[]*fault{{kind: "stop", seat: 0, line: 2, length: 1105 * time.Millisecond}}},
		"two nodes are lost at once, and only the disk has their parts": {1, 5, 1, ring{[]int{200, 200, 200, 200, 200}},
			[]*fault{{kind: "kill", seat: 1, after: 600 * time.Millisecond}, {kind: "kill", seat: 2}}},
		"two nodes that follow each other have no task, and the disk is full, so nobody tells them of a cut": {1, 5, 1, equal(1, 100),
			[]*fault{{kind: "full", after: 100 * time.Millisecond, length: 3 * time.Second}, {kind: "kill", seat: 0}}},
		"a node cannot send its records for some time, so no cut is whole meanwhile": {1, 3, 0, ring{[]int{100, 100, 100}},
			[]*fault{{kind: "large", seat: 1, after: 100 * time.Millisecond, length: 200 * time.Millisecond}}},
		"a task has ended behind the round that the chair asks for": {1, 2, 0, alone{{60, 4 * bodyTime}, {100, bodyTime}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			synctest.Test(t, func(*testing.T) {
				w = newWorld(c.seed, "")
				w.runs, w.commands, w.disks = c.runs, 0, nil
				for i := range uint64(c.disks) {
					w.disks = append(w.disks, newDisk(i))
				}
				w.plays(newCommand(c.count, true, c.faults...))
			})
			w.report(t)
		})
	}
}

// TestTwoStay has a life begin from a cut that is on no disk: a process is killed while the disk is slow. The disk keeps the last two cuts that were
// whole nevertheless, so one of them may be damaged.
func TestTwoStay(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(40) {
		var w *world
		synctest.Test(t, func(*testing.T) {
			w = newWorld(seed, "")
			w.runs, w.commands, w.disks = ring{[]int{100, 100, 100, 100}}, 1, []*disk{newDisk(seed)}
			if w.plays(newCommand(3, true,
				&fault{kind: "slow", seat: 0, after: 100 * time.Millisecond, length: 3 * time.Second},
				&fault{kind: "kill", seat: 1, after: w.within(700 * time.Millisecond), length: 100 * time.Millisecond},
				&fault{kind: "power", seat: 2, after: 300*time.Millisecond + w.within(1500*time.Millisecond)})) {
				w.plays(newCommand(3, true))
			}
		})
		w.report(t)
	}
}

// TestEndIsLate has the chair leave when all have told that their tasks have ended. The life ends with a cut, and two nodes hear that late: behind the
// run, or in the next one. They end the life, too.
func TestEndIsLate(t *testing.T) {
	rings.Computes(t)
	for _, pause := range []time.Duration{0, 500 * time.Millisecond} {
		var w *world
		synctest.Test(t, func(*testing.T) {
			w = newWorld(1, "")
			w.runs, w.commands, w.disks, w.interval = aloneInTurn{[]alone{equal(1, 20), equal(1, 20)}, func(p *process) time.Duration {
				if p.seat > 1 && p.lives == 1 {
					return pause
				}
				return 0
			}}, 0, nil, time.Second
			w.delays = func(p *process, _ lives.Message, gathered string) time.Duration {
				if gathered != "life 1: end 1" || p.seat > 1 {
					return 0
				}
				if p.seat == 0 && !p.left.Swap(true) {
					p.leave()
				}
				return 200 * time.Millisecond
			}
			w.plays(newCommand(4, true))
			for _, p := range w.processes {
				if p.lives != 2 && p.seat > 0 || p.lives != 1 && p.seat == 0 {
					w.complain("node %d has had %d lives", p.seat, p.lives)
				}
			}
		})
		w.report(t)
	}
}

// TestEndsStay has a run go on in its second part. Behind the end of the first one a node is lost, and later the one that had kept its copies. No life begins
// before the end of the first part again, although a buddy hears of its copies late.
func TestEndsStay(t *testing.T) {
	rings.Computes(t)
	var w *world
	synctest.Test(t, func(*testing.T) {
		w = newWorld(1, "")
		w.runs, w.commands, w.disks, w.interval = aloneInTurn{all: []alone{equal(5, 100), equal(5, 1000)}}, 0, nil, 100*time.Millisecond
		w.delays = func(p *process, m lives.Message, _ string) time.Duration {
			if m.Kind == lives.Part && m.Life == 2 && m.Run == 1 && m.Owner != p.seat-min(p.seat, 1) {
				return 50 * time.Millisecond
			}
			return 0
		}
		w.plays(newCommand(5, true,
			&fault{kind: "kill", seat: 1, after: 600 * time.Millisecond},
			&fault{kind: "kill", seat: 2, after: 800 * time.Millisecond}))
	})
	w.report(t)
}

// TestInterval has cuts follow each other in the interval that the program says, or later. The first one comes after an interval, too, and so does
// another try when a disk was full. If the program says nothing, a disk that is slow makes cuts rare: saving takes a small part of the time. If nodes
// hear late of a cut, the chair asks further and further ahead, until they hear soon again.
func TestInterval(t *testing.T) {
	rings.Computes(t)
	const interval, soon, length = 200 * time.Millisecond, 250 * time.Millisecond, time.Second
	for name, c := range map[string]struct {
		interval    time.Duration
		disks       int
		fault       fault
		late        time.Duration // how long messages about cuts take in the first three seconds
		least       time.Duration // between two cuts
		first, last time.Duration // until the first cut, and between the last two, at most
		from, to    int           // cuts in about four seconds
	}{
		"nothing happens":  {interval: interval, least: interval, first: soon, last: soon, from: 16, to: 20},
		"a disk is full":   {interval: interval, disks: 1, fault: fault{kind: "full", after: length, length: length}, least: interval, first: soon, last: soon, from: 12, to: 16},
		"nodes hear late":  {interval: interval, late: interval / 2, least: interval, first: 5 * length / 2, last: soon, from: 3, to: 10},
		"the default":      {least: 250 * time.Millisecond, first: 300 * time.Millisecond, last: 300 * time.Millisecond, from: 13, to: 16},
		"the disk is slow": {disks: 1, fault: fault{kind: "slow", length: time.Minute}, least: 250 * time.Millisecond, first: length, last: time.Minute, from: 1, to: 2},
	} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(plateWorkers))
			var w *world
			synctest.Test(t, func(*testing.T) {
				w = newWorld(1, "")
				w.runs, w.commands, w.disks, w.interval = equal(3, 2000), 0, nil, c.interval
				for i := range uint64(c.disks) {
					w.disks = append(w.disks, newDisk(i))
				}
				var faults []*fault
				if c.fault.kind != "" {
					faults = append(faults, &c.fault)
				}
				began := time.Now()
				before := began
				w.delays = func(_ *process, m lives.Message, _ string) time.Duration {
					if m.Kind == 0 || time.Since(began) > 3*length {
						return 0
					}
					return c.late
				}
				w.plays(newCommand(3, true, faults...))
				for i, at := range w.times {
					between := at.Sub(before)
					if between < c.least || i == 0 && between > c.first || i > 0 && i == len(w.times)-1 && between > c.last {
						w.complain("cut %d comes %v after the one before, or the beginning", i+1, between)
					}
					before = at
				}
				if n := len(w.times); n < c.from || n > c.to {
					w.complain("there are %d cuts, want %d to %d", n, c.from, c.to)
				}
				if n := bytes.Count(w.log.text.Bytes(), []byte("a cut is not on disk")); n > 3*int(length/interval+1) {
					w.complain("%d parts could not be saved", n)
				}
			})
			w.report(t)
		})
	}
}
