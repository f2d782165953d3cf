package worlds

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// TestCases plays worlds in which there was a mistake.
func TestCases(t *testing.T) {
	rings.Computes(t)
	for name, c := range map[string]struct {
		seed         uint64 // of the delays
		count, disks int
		runs         program
		fault        fault
	}{
		"each cut that the disk did not take doubled how far ahead the next one was": {2857, 4, 1, ring{[]int{34, 84, 99, 123, 123, 93, 9}},
			fault{kind: "full", seat: 3, event: "copy", nth: 1, length: 990 * time.Millisecond}},
		"the chair asked for the cut that a disk had not taken, and nobody heeded that": {1366, 5, 1, ring{[]int{20, 87, 71}},
			fault{kind: "full", seat: 1, after: 294571221, length: 1525 * time.Millisecond}},
		"a node that left had on its disk what the others had forgotten, and so it stayed for ever": {1, 2, 2, stages{32, 32, 10},
			fault{kind: "leave", seat: 1, after: 450 * time.Millisecond}},
		"a node was silent between two runs, and an access that failed for that ended the run": {551, 3, 0, stages{7, 3},
			fault{kind: "stop", seat: 0, line: 2, length: 1105 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			synctest.Test(t, func(*testing.T) {
				w = newWorld(c.seed, "")
				w.runs, w.commands, w.disks = c.runs, 0, nil
				for i := range uint64(c.disks) {
					w.disks = append(w.disks, newDisk(i))
				}
				w.plays(newCommand(c.count, true, &c.fault))
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
