package worlds

import (
	"fmt"
	"slices"
	"time"
)

// fault is what happens once, after the fault before it.
type fault struct {
	kind   string        // kill, stop, cut, alone, leave; large: the seat cannot send records; full, slow: the disk of the seat; all: kill all processes; power: the same, and disks lose what was not synced
	seat   int           // or senior
	peer   int           // of a cut
	length time.Duration // how long it lasts; behind a kill, until another process takes the seat; 0: none does
	after  time.Duration // the fault before, the beginning, or the event
	line   int64         // of the seat's log after the fault before; 0: at a time
	event  string        // of the seat: write, copy, restore, agree; "": none
	nth    int           // such event
	now    chan struct{} // closed then
}

// senior is the seat of the process that is first in all agreements.
const senior = -1

func (f *fault) String() string {
	text := fmt.Sprintf("%s %d", f.kind, f.seat)
	if f.kind == "cut" {
		text += fmt.Sprintf("-%d", f.peer)
	}
	switch {
	case f.event != "":
		text += fmt.Sprintf(" at %s %d and %v", f.event, f.nth, f.after)
	case f.line > 0:
		text += fmt.Sprintf(" at line %d", f.line)
	default:
		text += fmt.Sprintf(" after %v", f.after)
	}
	return text + fmt.Sprintf(" for %v", f.length)
}

// within is a random time up to d.
func (w *world) within(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

// draw draws a command: on how many nodes it runs, and what happens. The first fault comes while the program runs. Others may come while the run
// gets over the one before.
func (w *world) draw(first bool) command {
	count, n := 2+w.rng.IntN(4), 1+w.rng.IntN(4)
	if !first {
		count, n = 1+w.rng.IntN(5), w.rng.IntN(4)
	}
	kinds := []string{"kill", "kill", "kill", "stop", "cut", "alone", "leave"}
	if len(w.disks) > 0 {
		kinds = append(kinds, "full", "slow")
	}
	c := newCommand(count, w.rng.IntN(2) == 0)
	over := w.commands > 0 && w.rng.IntN(3) > 0 // all processes are killed in the end
	if c.gentle {
		n = min(n, 1)
		if over {
			n = 0
		}
	}
	for i := range n {
		c.faults = append(c.faults, w.drawFault(count, kinds[w.rng.IntN(len(kinds))], first && i == 0))
	}
	if over {
		c.faults = append(c.faults, w.drawFault(count, []string{"all", "power"}[w.rng.IntN(2)], first && n == 0))
	}
	return c
}

func (w *world) drawFault(count int, kind string, first bool) *fault {
	f := &fault{kind: kind, seat: w.rng.IntN(count), length: 100*time.Millisecond + w.within(3*time.Second)}
	if count > 1 {
		f.peer = (f.seat + 1 + w.rng.IntN(count-1)) % count
	}
	if f.kind == "kill" && w.rng.IntN(2) == 0 {
		f.length = 0
	}
	k := w.rng.IntN(8)
	switch {
	case w.rng.IntN(2) == 0:
	case kind == "power":
		k = 6
	case kind == "all":
		k = 4
	}
	switch {
	case k < 3:
		f.line = 1 + w.rng.Int64N(25)
	case k == 3:
		f.event, f.nth, f.after = "copy", 1+w.rng.IntN(10), w.soon()
	case k == 4 && !first:
		f.event, f.nth, f.after = "restore", 1, w.soon()
	case k == 5 && !first:
		f.event, f.nth, f.after, f.seat = "agree", 1, w.soon(), senior
	case k == 6 && len(w.disks) > 0:
		f.event, f.nth, f.after = "write", 1+w.rng.IntN(6), w.soon()
	case first:
		f.after = w.within(w.runs.lasts())
	case w.rng.IntN(2) == 0:
		f.after = w.within(100 * time.Millisecond) // so long it takes until others notice a kill
	default:
		f.after = w.within(2 * worldLease)
	}
	return f
}

// soon is no time, or a little more.
func (w *world) soon() time.Duration {
	if w.rng.IntN(2) == 0 {
		return 0
	}
	return w.within(3 * time.Millisecond)
}

// strikeAll does what the faults say, one after another, until the command is over.
func (w *world) strikeAll(over <-chan struct{}) {
	for _, f := range w.faults {
		f.now = make(chan struct{})
		var at <-chan time.Time
		switch {
		case f.event != "":
			w.mu.Lock()
			w.waits = f
			w.mu.Unlock()
		case f.line > 0:
			w.at(f.seat).watch(f.line, f.now)
		default:
			at = time.After(f.after)
		}
		select {
		case <-at:
		case <-f.now:
		case <-over:
			return
		}
		if f.event != "" && f.after == 0 {
			continue // it has happened
		}
		if f.event != "" {
			<-time.After(f.after)
		}
		w.strike(f)
	}
}

// happens is called at an event of a process. If a fault waits for it, that strikes before happens returns, or soon.
func (w *world) happens(p *process, event string) {
	w.mu.Lock()
	f := w.waits
	if f == nil || f.event != event || f.seat != p.seat && f.seat != senior || p.killed.Load() {
		w.mu.Unlock()
		return
	}
	f.nth--
	if f.nth > 0 {
		w.mu.Unlock()
		return
	}
	w.waits = nil
	w.mu.Unlock()
	if f.after == 0 {
		w.strike(f)
	}
	close(f.now)
}

// watch closes reached after so many lines of the log.
func (p *process) watch(lines int64, reached chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.reached = lines, reached
}

// strike does what a fault says.
func (w *world) strike(f *fault) {
	seat := f.seat
	if seat == senior {
		seat = w.seniorSeat()
	}
	p := w.at(seat)
	switch f.kind {
	case "kill":
		p.kill(f.length)
	case "all", "power":
		w.killAll(f.kind == "power")
	case "leave":
		p.left.Store(true) // its next body asks
	case "large":
		p.large.Store(true)
		w.later(f.length, func() { p.large.Store(false) })
	case "stop":
		p.disturbed.Store(true)
		p.stop()
		w.later(f.length, p.goOn)
	case "cut":
		if w.count > 1 {
			w.cut(seat, f.peer, f.length)
		}
	case "alone":
		for peer := range w.count {
			if peer != seat {
				w.cut(seat, peer, f.length)
			}
		}
	case "full", "slow":
		w.fails(w.disks[seat%len(w.disks)], f.kind == "full", f.length)
	}
}

// stop has a process do nothing with its sockets and its disk, until goOn. Its time goes on.
func (p *process) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped == nil {
		p.stopped = make(chan struct{})
		p.sockets.stop(true)
	}
}

func (p *process) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		close(p.stopped)
		p.stopped = nil
		p.sockets.stop(false)
	}
}

// runs waits while the process is stopped.
func (p *process) runs() {
	p.mu.Lock()
	stopped := p.stopped
	p.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}

// cut lets nothing pass between two nodes for some time.
func (w *world) cut(a, b int, length time.Duration) {
	w.at(a).disturbed.Store(true)
	w.at(b).disturbed.Store(true)
	w.net.cut(a, b)
	w.later(length, func() { w.net.heal(a, b) })
}

// fails has a disk be full or slow for some time.
func (w *world) fails(d *disk, full bool, length time.Duration) {
	set := func(full bool, slow time.Duration) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.full, d.slow = full, slow
	}
	if full {
		set(true, 0)
	} else {
		set(false, 100*time.Millisecond)
	}
	w.later(length, func() { set(false, 0) })
}

// kill ends the process at once. Another one takes its seat later, unless the time is 0.
func (p *process) kill(later time.Duration) {
	w := p.world
	if p.killed.Load() {
		return
	}
	chair := w.seniorSeat() == p.seat
	w.mu.Lock()
	changing := w.changing
	agree := slices.ContainsFunc(w.processes, func(o *process) bool { return !o.killed.Load() && o.agrees })
	w.changing = true
	whole := w.newest()
	w.mu.Unlock()
	p.mu.Lock()
	copied := p.copied.Compare(whole) > 0
	p.mu.Unlock()
	w.reach(changing, "a process is killed while the lives change")
	w.reach(changing && chair, "the senior process is killed while the lives change")
	w.reach(agree && chair, "the chair is killed while the nodes agree on the next life")
	w.reach(copied, "a buddy is killed between a copy and the whole cut")
	w.reach(p.restoring.Load(), "a process is killed while it restores a cut")
	p.dies()
	if later > 0 {
		w.later(later, func() {
			if !w.dead.Load() {
				w.again(p.seat)
			}
		})
	}
}

// dies ends the process.
func (p *process) dies() {
	p.killed.Store(true)
	p.sockets.kill()
	p.cancel()
	p.goOn()
}

// killAll kills all processes, so the command is over. With power, the disks lose what was not synced.
func (w *world) killAll(power bool) {
	w.dead.Store(true)
	for _, p := range w.all() {
		w.reach(p.restoring.Load() && !p.killed.Load(), "all processes are killed while one restores a cut")
		p.dies()
	}
	for _, d := range w.disks {
		if power {
			loses, tears := d.powerFails()
			w.reach(loses, "a disk loses what was not synced")
			w.reach(tears, "a power failure leaves a torn file")
		}
	}
}

// later calls f. The world waits for it.
func (w *world) later(d time.Duration, f func()) {
	w.running.Go(func() {
		<-time.After(d)
		f()
	})
}
