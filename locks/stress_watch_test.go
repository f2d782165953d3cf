package locks_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/rmatest"
)

// A watchdog tells the ranks to stop and says which lock hangs, and where.
type watchdog struct {
	bout  bout
	words []uint64
	least time.Duration // how long the bout lasts
	reads uint64        // how many turns there are at least
}

// watch returns when done is closed, or an error if no rank comes forward for long.
func (d watchdog) watch(done <-chan struct{}) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	begin := time.Now()
	last, moved := uint64(0), begin
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		turns := uint64(0)
		for p := range d.bout.Ranks {
			turns += atomic.LoadUint64(&d.words[stressRanks+p*stressRank])
		}
		if turns >= d.reads && time.Since(begin) >= d.least {
			atomic.StoreUint64(&d.words[stressStop], 1)
		}
		if turns != last {
			last, moved = turns, time.Now()
		}
		if time.Since(moved) > rmatest.Patience {
			return d.hangs()
		}
	}
}

func (d watchdog) hangs() error {
	var where []string
	for p := range d.bout.Ranks {
		own := d.words[stressRanks+p*stressRank:]
		does := []string{"is out", "acquires", "is inside", "releases"}[atomic.LoadUint64(&own[1])]
		where = append(where, fmt.Sprintf("rank %d has had %d turns and %s", p, atomic.LoadUint64(&own[0]), does))
	}
	return fmt.Errorf("the lock hangs: no rank had a turn for %v: %s", rmatest.Patience, strings.Join(where, "; "))
}

// over waits for the ranks. If they hang it ends them by end.
func (d watchdog) over(wait, end func()) error {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	err := d.watch(done)
	if err != nil {
		end()
		<-done
	}
	return err
}
