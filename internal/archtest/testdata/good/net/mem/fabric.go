package mem

import (
	"math/rand/v2"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// Ranks is a backend's: free to have goroutines, clocks and chance.
func Ranks() int {
	done := make(chan int)
	go func() { time.Sleep(1); done <- rma.Levels(1) + rand.IntN(1) }()
	return <-done
}
