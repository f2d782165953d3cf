//go:build linux

package shm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

func TestUseAfterClose(t *testing.T) {
	f := create(t, 2)
	d, w := alloc(t, f, 1), window(t, f, 0)
	r := attach(t, w, 8)
	w.Put(0, d, 7)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if v, err := w.Await(background, 0, d, rma.Is(1)); v != 0 || !errors.Is(err, rma.ErrClosed) {
		t.Errorf("Await: %d, %v; want ErrClosed", v, err)
	}
	if v := w.Get(0, d) + w.FetchOp(0, d, rma.Sum, 1) + w.CAS(0, d, 7, 8); v != 0 {
		t.Errorf("operations return %d, want 0", v)
	}
	w.Put(0, d, 1)
	w.PutBytes(0, r.Base, make([]byte, 64))
	if _, err := w.Attach(1); !errors.Is(err, rma.ErrClosed) {
		t.Errorf("Attach: %v, want ErrClosed", err)
	}
	if _, err := f.Alloc(1); !errors.Is(err, rma.ErrClosed) {
		t.Errorf("Alloc: %v, want ErrClosed", err)
	}
	if again := window(t, f, 0); again != w {
		t.Error("Window of a rank of this process is another window")
	}
	if _, err := f.Window(1); !errors.Is(err, rma.ErrClosed) {
		t.Errorf("Window of another rank: %v, want ErrClosed", err)
	}
	r.Words[0]++ // does not fault
}

// TestCloseEndsAwait closes while ranks sleep, with a waker and without.
func TestCloseEndsAwait(t *testing.T) {
	for ranks := 1; ranks <= 3; ranks++ {
		f := create(t, 3)
		d := alloc(t, f, 1)
		ended := make(chan error)
		for p := range ranks {
			w := window(t, f, rma.Rank(p))
			go func() {
				_, err := w.Await(background, 0, d, rma.Is(1))
				ended <- err
			}()
		}
		for p := range ranks {
			asleep(f, rma.Rank(p))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		for range ranks {
			if err := <-ended; !errors.Is(err, rma.ErrClosed) {
				t.Errorf("Await ended with %v, want ErrClosed", err)
			}
		}
	}
}

// TestPorterLeaves ends the work of wakers at any moment of it.
func TestPorterLeaves(t *testing.T) {
	f := create(t, 1)
	for range rings.Of(5_000, 20_000, 20_000) {
		p := newWaker(f.sleeper, 0)
		f.sleeper.lobbies[0].ring()
		for began, moment := time.Now(), rand.N(20*time.Microsecond); time.Since(began) < moment; {
		}
		p.leave()
	}
}

func TestContextEndsFabric(t *testing.T) {
	reason := errors.New("the run is over")
	ctx, cancel := context.WithCancelCause(background)
	f, err := Create(Options{Topology: topology.Flat(2), Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, w := alloc(t, f, 1), window(t, f, 0)
	go func() {
		asleep(f, 0)
		cancel(reason)
	}()
	if _, err := w.Await(background, 0, d, rma.Is(1)); err != reason {
		t.Errorf("Await ended with %v, want %v", err, reason)
	}
	if _, err := f.Alloc(1); err != reason {
		t.Errorf("Alloc: %v, want %v", err, reason)
	}
	if w.Err() != reason {
		t.Errorf("the window's error is %v, want %v", w.Err(), reason)
	}
}

// TestContextEndsAwait ends one wait, after which the window goes on.
func TestContextEndsAwait(t *testing.T) {
	f := create(t, 2)
	d, w := alloc(t, f, 1), window(t, f, 0)
	ctx, cancel := context.WithCancel(background)
	go func() {
		asleep(f, 0)
		cancel()
	}()
	if _, err := w.Await(ctx, 0, d, rma.Is(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Await ended with %v, want context.Canceled", err)
	}
	if w.Put(0, d, 1); w.Err() != nil || w.Get(0, d) != 1 {
		t.Errorf("the window has failed: %v", w.Err())
	}
}

// leaving is a process that does its share and leaves.
var leaving = role("leaving", func(a *actor) error {
	d, w := a.words(1), a.own()
	r, err := w.Attach(8)
	if err != nil {
		return err
	}
	r.Words[3] = 33
	w.Put(0, d, uint64(r.Base))
	w.Flush(0)
	return nil
})

// TestOthersLeave reads the memory of a rank that has left, and waits on.
func TestOthersLeave(t *testing.T) {
	f := create(t, 3)
	d, w := alloc(t, f, 1), window(t, f, 0)
	spawn(t, f, leaving, 1).end()
	base := w.Get(0, d)
	if v := w.Get(1, rma.Disp(base)+3); v != 33 {
		t.Errorf("the word of the rank that left is %d, want 33", v)
	}
	w.Put(1, d, 5)
	if v := w.Get(1, d); v != 5 {
		t.Errorf("it cannot be changed: %d, want 5", v)
	}
	w.Put(0, d, 0)
	spawn(t, f, leaving, 2).end()
	if _, err := w.Await(background, 0, d, rma.IsNot(0)); err != nil {
		t.Errorf("Await: %v", err)
	}
}

// TestNothingIsLeftRunning finds no goroutine of the package after Close.
func TestNothingIsLeftRunning(t *testing.T) {
	for running() > 0 { // those of the test before
		runtime.Gosched()
	}
	f := create(t, 3)
	for p := range 3 {
		window(t, f, rma.Rank(p))
	}
	if n := running(); n != 2 {
		t.Errorf("%d goroutines of the package run, want a watch and a waker", n)
	}
	f.Close()
	for running() > 0 { // a goroutine ends a moment after it has said so
		runtime.Gosched()
	}
}

// running counts the goroutines that fabrics have started.
func running() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("shm.newFabric in goroutine")) + bytes.Count(stacks, []byte("shm.newWaker in goroutine"))
}

// TestMemoryGoesBack closes fabrics and forgets them: nothing stays mapped, and
// no file open.
func TestMemoryGoesBack(t *testing.T) {
	count := func() (mapped, open int) {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if target, _ := os.Readlink("/proc/self/fd/" + file.Name()); strings.Contains(target, "memfd:orwl") {
				open++
			}
		}
		return strings.Count(string(maps), "memfd:orwl"), open
	}
	for range 10 {
		f, err := Create(Options{Topology: topology.Flat(2)})
		if err != nil {
			t.Fatal(err)
		}
		window(t, f, 0).Put(0, alloc(t, f, 1), 1)
		f.Close()
	}
	for mapped, open := count(); mapped > 0; mapped, open = count() {
		if open > 0 {
			t.Fatalf("%d files of closed fabrics are open", open)
		}
		runtime.GC() // until the cleanups have run
	}
}
