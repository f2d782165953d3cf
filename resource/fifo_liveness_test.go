package resource_test

import (
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

func init() {
	resource.NewFIFO = func() resource.FIFO { return new(liveness.FIFO) }
}
