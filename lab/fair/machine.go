package fair

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// machine is what a table is read with: a figure that depends on lines of memory is of use only beside these.
type machine struct {
	mutex float64 // nanoseconds that sync.Mutex takes without contention
	line  float64 // nanoseconds in which a line of memory goes to another processor and back
	load  string  // of the operating system, in the last minutes
}

func (m machine) String() string {
	return fmt.Sprintf("here sync.Mutex takes %.1f ns, a line %.0f ns from one processor to another and back; load %s", m.mutex, m.line, m.load)
}

// look measures the machine.
func look() machine {
	const locks, trips = 1_000_000, 20_000
	m := machine{load: "unknown"}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	m.mutex, m.line = math.Inf(1), math.Inf(1)
	for range 5 { // the least of some tries: other programs only add to it
		var l sync.Mutex
		begin := time.Now()
		sections := 0
		for sections < locks {
			l.Lock()
			sections++
			l.Unlock()
		}
		m.mutex = min(m.mutex, float64(time.Since(begin))/locks)
		m.line = min(m.line, float64(roundTrips(trips))/trips)
	}
	return m
}

// roundTrips is how long two threads take to answer each other so many times. Each spins.
func roundTrips(n int64) time.Duration {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var word atomic.Int64
	var other sync.WaitGroup
	other.Go(func() {
		runtime.LockOSThread()
		for i := range n {
			for word.Load() != 2*i+1 {
			}
			word.Store(2*i + 2)
		}
	})
	begin := time.Now()
	for i := range n {
		word.Store(2*i + 1)
		for word.Load() != 2*i+2 {
		}
	}
	took := time.Since(begin)
	other.Wait()
	return took
}

// busy is how much time processors have spent: all of them on anything, and on this process and what it has started.
type busy struct {
	at        time.Time
	all, ours time.Duration
}

// others is the share of the processors that other programs had since an earlier time.
func (b busy) others(before busy) float64 {
	if b.all == before.all {
		return 0 // it is not known, or too short
	}
	wall := b.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	return max(0, float64((b.all-before.all)-(b.ours-before.ours))/float64(wall))
}

// busyNow reads the first line of /proc/stat: user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen.
// Without such a file nothing is known of others.
func busyNow() busy {
	b := busy{at: time.Now(), ours: spent()}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return b
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	for i, word := range strings.Fields(string(line)) {
		var ticks int64
		if _, err := fmt.Sscan(word, &ticks); err == nil && i != 4 && i != 5 && i <= 8 {
			b.all += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return b
}
