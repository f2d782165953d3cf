package queue_test

import (
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

func init() {
	queue.NewFIFO = func() queue.FIFO { return new(liveness.FIFO) }
}
