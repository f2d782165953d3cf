package direct

import (
	"sync"
	"time"
)

// spinRelax is the pauses between two looks at a word, each 40 to 140 cycles. Package patience says how often a
// rank looks.
const spinRelax = 1

// LookTime is how long a look at a word takes on this machine. Processors differ by more than ten times. It is
// the shortest of a few measurements. Longer ones were disturbed.
var LookTime = sync.OnceValue(func() time.Duration {
	const tries, looks = 8, 32
	best := time.Hour
	for range tries {
		begin := time.Now()
		relax(looks * spinRelax)
		best = min(best, time.Since(begin))
	}
	return max(1, best/looks)
})
