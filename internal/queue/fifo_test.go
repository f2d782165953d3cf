package queue

// FIFO is the specification of the queue, liveness.FIFO. Package liveness imports
// this package, so only the tests in package resource_test can import liveness. They
// set NewFIFO, and the tests in this package use it.
type FIFO interface {
	Request(id ID, m Mode, granted []ID) ([]ID, error)
	Release(id ID, granted []ID) ([]ID, error)
	Renew(id, next ID, m Mode, granted []ID) ([]ID, error)
	Cancel(id ID, granted []ID) ([]ID, error)
	Granted(id ID) (granted, queued bool)
	Len() int
	All(yield func(group int, m Mode, id ID) bool)
}

// NewFIFO makes an empty FIFO.
var NewFIFO func() FIFO
