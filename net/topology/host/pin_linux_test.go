package host

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

// mayUse returns the CPUs that the calling goroutine's thread may use.
func mayUse(t *testing.T) string {
	t.Helper()
	allowed, err := affinity()
	if err != nil {
		t.Error(err)
	}
	return allowed.cpus().String()
}

func TestPinReadsBack(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	before := mayUse(t)
	var ranks sync.WaitGroup
	for p := range topology.Rank(tree.Ranks()) {
		ranks.Go(func() {
			cpu, _ := tree.CPU(p)
			unpin, err := Pin(tree, p)
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := mayUse(t), strconv.Itoa(cpu); got != want {
				t.Errorf("rank %d may use %s, want CPU %s", p, got, want)
			}
			again, err := Pin(tree, p) // nests
			if err != nil {
				t.Error(err)
				return
			}
			again()
			if got, want := mayUse(t), strconv.Itoa(cpu); got != want {
				t.Errorf("rank %d may use %s after the inner unpin, want CPU %s", p, got, want)
			}
			unpin()
			unpin() // does nothing
			if got := mayUse(t); got != before {
				t.Errorf("rank %d may use %s after unpin, want %s as before", p, got, before)
			}
		})
	}
	ranks.Wait()
}

func TestPinToForbiddenCPU(t *testing.T) {
	before := mayUse(t)
	tree := topology.FromCPUs([]topology.CPU{{Number: maxCPUs - 1}})
	unpin, err := Pin(tree, 0)
	var refused *PinError
	if unpin != nil || !errors.As(err, &refused) {
		t.Fatalf("Pin gives %v, want a *PinError", err)
	}
	if refused.Rank != 0 || refused.CPU != maxCPUs-1 || refused.Allowed != before {
		t.Errorf("%+v, want the rank, its CPU and %s", refused, before)
	}
	if got := mayUse(t); got != before {
		t.Errorf("the thread may use %s after a refusal, want %s as before", got, before)
	}
}

func TestSecondUnpinLeavesALaterPinAlone(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	if tree.Ranks() < 2 {
		t.Skip("needs two CPUs: with one, a pinned thread looks like any other")
	}
	unpin, err := Pin(tree, 0)
	if err != nil {
		t.Fatal(err)
	}
	unpin()
	later, err := Pin(tree, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer later()
	pinned := mayUse(t)
	unpin()
	if got := mayUse(t); got != pinned {
		t.Errorf("the thread may use %s, want %s", got, pinned)
	}
}

// The cpuset allows the CPU and the affinity does not. The kernel alone would let
// the thread go there.
func TestPinKeepsToTheAffinity(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	if tree.Ranks() < 2 {
		t.Skip("needs two CPUs: one that is allowed and one that is not")
	}
	unpin, err := Pin(tree, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unpin()
	var refused *PinError
	if _, err := Pin(tree, 1); !errors.As(err, &refused) || refused.Err != nil {
		t.Errorf("Pin gives %v, want a *PinError without a call of the kernel", err)
	}
}

func TestUnpinByAnotherGoroutinePanics(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	unpin, err := Pin(tree, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unpin()
	caught := make(chan any)
	go func() {
		defer func() { caught <- recover() }()
		unpin()
	}()
	if <-caught == nil {
		t.Error("no panic")
	}
}

// TestBind binds all threads of the process, also one that begins later, and gives the CPUs back.
func TestBind(t *testing.T) {
	tree, err := Detect()
	if err != nil {
		t.Fatal(err)
	}
	cpu, _ := tree.CPU(0)
	thread := func() (may string) { // of a thread that begins now
		done := make(chan bool)
		go func() {
			defer close(done)
			runtime.LockOSThread() // it ends with the goroutine
			may = mayUse(t)
		}()
		<-done
		return may
	}
	before := thread()
	unbind, err := Bind([]int{cpu})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, want := thread(), strconv.Itoa(cpu); got != want {
			t.Errorf("a thread of the bound process may use %s, want %s", got, want)
		}
	}
	if again, err := Detect(); err != nil || again.Ranks() != 1 {
		t.Errorf("the bound process has %v, %v, want one CPU", again, err)
	}
	unbind()
	for range 3 {
		if got := thread(); got != before {
			t.Errorf("a thread may use %s afterwards, and %s before", got, before)
		}
	}
	if _, err := Bind([]int{maxCPUs - 1}); err == nil {
		t.Error("a process is bound to a CPU that the machine does not have")
	}
	if got := thread(); got != before {
		t.Errorf("a thread may use %s after an error, and %s before", got, before)
	}
}
