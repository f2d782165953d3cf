//go:build linux

package shm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// bereaved is a process whose rank awaits a word that no rank changes, and prints
// which rank's loss ended that.
var bereaved = role("bereaved", func(a *actor) error {
	d, w := a.words(1), a.own()
	a.ready()
	_, err := w.Await(background, rma.Rank(a.int(0)), d, rma.Is(1))
	var loss *rma.PeerLostError
	if !errors.Is(err, rma.ErrPeerLost) || !errors.As(err, &loss) {
		return fmt.Errorf("Await ended with %v, want a rma.PeerLostError", err)
	}
	if !errors.Is(w.Err(), rma.ErrPeerLost) {
		return fmt.Errorf("the window's error is %v, want a rma.PeerLostError", w.Err())
	}
	fmt.Println("lost", loss.Rank)
	return nil
})

// idle is a process that has ranks, does nothing, and is killed.
var idle = role("idle", func(a *actor) error {
	for p := range a.int(0) {
		if _, err := a.Window(a.rank + rma.Rank(p)); err != nil {
			return err
		}
	}
	a.ready()
	return a.told()
})

// TestKilledProcess kills one of five processes. All others' waits, on whatever
// word, end with the same typed error.
func TestKilledProcess(t *testing.T) {
	f := create(t, 6)
	alloc(t, f, 1)
	victim := spawn(t, f, idle, 3, 2) // has ranks 3 and 4
	others := []*peer{
		spawn(t, f, bereaved, 0, 0), // awaits a word of its own
		spawn(t, f, bereaved, 1, 3), // one of the victim's
		spawn(t, f, bereaved, 2, 0), // one of another
	}
	w := window(t, f, 5)
	for _, p := range append(others, victim) {
		p.ready()
	}
	for p := range others {
		asleep(f, rma.Rank(p))
	}

	victim.kill()
	_, err := w.Await(background, 5, 0, rma.Is(1))
	var loss *rma.PeerLostError
	if !errors.As(err, &loss) || loss.Rank != 3 {
		t.Errorf("Await ended with %v, want the loss of rank 3", err)
	}
	for _, p := range others {
		if line := p.line(); line != "lost 3" {
			t.Errorf("%s says %q, want the loss of rank 3", p.name, line)
		}
	}
	for _, p := range others {
		p.end()
	}
	if _, err := f.Window(3); !rankRefused(err, "is gone") {
		t.Errorf("Window of a lost rank: %v, want a RankError that says so", err)
	}
}

// TestFoundInOnePeriod kills a process. This one finds it dead when the watch looks next. Time
// passes here only when the watch waits.
func TestFoundInOnePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found := make(chan error, 1)
		f := createWith(t, Options{Topology: topology.Flat(2), Lost: func(err error) { found <- err }})
		victim := spawn(t, f, idle, 1, 1)
		victim.ready()
		victim.kill()
		began := time.Now()
		var loss *rma.PeerLostError
		if err := <-found; !errors.As(err, &loss) || loss.Rank != 1 {
			t.Errorf("lost by %v, want the loss of rank 1", err)
		}
		if took := time.Since(began); took > watchPeriod {
			t.Errorf("found after %v, want at most %v", took, watchPeriod)
		}
	})
}

// TestNoFileIsLeft looks for the file of a fabric whose other process is killed:
// no directory has it, not even while it is in use.
func TestNoFileIsLeft(t *testing.T) {
	f := create(t, 2)
	victim := spawn(t, f, idle, 1, 1)
	victim.ready()
	victim.kill()
	var status syscall.Stat_t
	if err := control(f.File(), func(fd int) error { return syscall.Fstat(fd, &status) }); err != nil {
		t.Fatal(err)
	}
	if status.Nlink != 0 {
		t.Errorf("the fabric's file has %d names, want none", status.Nlink)
	}
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Logf("%s: %v", dir, err)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				continue
			}
			if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Ino == status.Ino && s.Dev == status.Dev {
				t.Errorf("%s/%s is the fabric's file", dir, entry.Name())
			}
		}
	}
}

// announcing is a process that dies while it is entering itself into rank 0's
// waiting list: its bit is set and counted, but its room is empty.
var announcing = role("announcing", func(a *actor) error {
	d := a.words(1)
	a.own()
	segment := &a.world.Segments[0]
	segment.Waiters[0].Or(1 << a.rank)
	segment.Room.Watch[d].Add(1)
	return suicide()
})

func TestKilledWhileAnnouncing(t *testing.T) {
	f := create(t, 3)
	d, w := alloc(t, f, 1), window(t, f, 0)
	victim := spawn(t, f, announcing, 2)
	victim.died()
	// Operations on the word end, whether the loss is noticed by now or not.
	w.Put(0, d, 1)
	w.FetchOp(0, d, rma.Sum, 1)
	w.CAS(0, d, 2, 3)
	if _, err := w.Await(background, 0, d, rma.Is(9)); !errors.Is(err, rma.ErrPeerLost) {
		t.Errorf("Await ended with %v, want a rma.PeerLostError", err)
	}
}

// owing is a process that dies between making rank 0's room awake and waking it.
var owing = role("owing", func(a *actor) error {
	a.own()
	asleep(a.Fabric, 0)
	if !a.world.Segments[0].Room.Awaken() {
		return errors.New("rank 0 is awake")
	}
	return suicide()
})

func TestKilledWhileWaking(t *testing.T) {
	for _, ranks := range []int{1, 2} { // without and with a waker
		f := create(t, 3)
		d := alloc(t, f, 1)
		w := window(t, f, 0)
		for p := 1; p < ranks; p++ {
			window(t, f, rma.Rank(p))
		}
		victim := spawn(t, f, owing, 2)
		if _, err := w.Await(background, 0, d, rma.Is(1)); !errors.Is(err, rma.ErrPeerLost) {
			t.Errorf("Await ended with %v, want a rma.PeerLostError", err)
		}
		victim.died()
	}
}

// quitting is a process that ends without closing the fabric.
var quitting = role("quitting", func(a *actor) error {
	a.own()
	os.Exit(0)
	return nil
})

func TestEndWithoutClose(t *testing.T) {
	f := create(t, 2)
	d, w := alloc(t, f, 1), window(t, f, 0)
	spawn(t, f, quitting, 1).end()
	_, err := w.Await(background, 0, d, rma.Is(1))
	if !errors.Is(err, rma.ErrPeerLost) || !strings.Contains(err.Error(), "without closing") {
		t.Errorf("Await ended with %v, want a rma.PeerLostError that says how", err)
	}
}

// TestLossOfRanksHere kills a process that has a rank and acts for one of another machine.
// The loss is named after the rank that ran here, and Lost hears of it first.
func TestLossOfRanksHere(t *testing.T) {
	made, heard := make(chan *Fabric, 1), make(chan error, 1)
	f := createWith(t, Options{Topology: topology.Flat(3), Here: func(p rma.Rank) bool { return p != 1 },
		Lost: func(err error) {
			f := <-made
			f.mu.Lock()
			defer f.mu.Unlock()
			heard <- errors.Join(err, f.err)
		}})
	made <- f
	d, w := alloc(t, f, 1), window(t, f, 0)
	victim := spawn(t, f, idle, 1, 2)
	victim.ready()
	victim.kill()
	_, err := w.Await(background, 0, d, rma.Is(1))
	var loss *rma.PeerLostError
	if !errors.As(err, &loss) || loss.Rank != 2 {
		t.Errorf("Await ended with %v, want the loss of rank 2", err)
	}
	select {
	case first := <-heard:
		if first.Error() != err.Error() {
			t.Errorf("Lost heard %v, want %v before the fabric fails", first, err)
		}
	default:
		t.Error("Lost heard nothing before the fabric failed")
	}
}

// TestCrowdOfRanksHere has more ranks than processors, and not all of them here.
func TestCrowdOfRanksHere(t *testing.T) {
	for _, here := range []int{runtime.NumCPU(), runtime.NumCPU() + 1} {
		f := createWith(t, Options{Topology: topology.Flat(2 * here), Here: func(p rma.Rank) bool { return int(p) < here }})
		w := window(t, f, 0).(rma.Considerate)
		w.HandedOver()
		if again, crowded := w.Returns(1), here > runtime.NumCPU(); again > 0 != crowded {
			t.Errorf("%d ranks on %d processors: it returns again after %d turns", here, runtime.NumCPU(), again)
		}
	}
}

// TestLateClaim claims a rank of a fabric that has lost one already.
func TestLateClaim(t *testing.T) {
	f := create(t, 3)
	d, w := alloc(t, f, 1), window(t, f, 0)
	spawn(t, f, quitting, 1).end()
	if _, err := w.Await(background, 0, d, rma.Is(1)); !errors.Is(err, rma.ErrPeerLost) {
		t.Fatal(err)
	}
	late := window(t, f, 2)
	if !errors.Is(late.Err(), rma.ErrPeerLost) {
		t.Errorf("the new window's error is %v, want a rma.PeerLostError", late.Err())
	}
}

// suicide ends the process as kill does.
func suicide() error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

// died waits for the end of a process that kills itself.
func (p *peer) died() {
	p.t.Helper()
	p.done = true
	var exit *exec.ExitError
	err := p.cmd.Wait()
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		p.t.Errorf("%s ended with %v, want to be killed", p.name, err)
	}
}

// rankRefused reports whether err is a RankError whose reason contains why.
func rankRefused(err error, why string) bool {
	var refusal *rma.RankError
	return errors.As(err, &refusal) && strings.Contains(refusal.Why, why)
}
