package handle

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
)

var (
	count   int
	next    atomic.Uint64
	cache   = make(map[string]int)
	guard   = struct{ mu sync.Mutex }{}
	pointer = &struct{ n int }{}
	names   = map[int]string{1: "one"}
	sizes   = []int{1, 2, 3}
	ends    = [...]int{1, 2, 3}

	ErrFine = errors.New("handle: fine")

	errFine  = errors.ErrUnsupported
	errStdin = os.Stdin
)

func register(i int, name string) *int {
	names[i] = name
	sizes[0]++
	return &ends[0]
}
