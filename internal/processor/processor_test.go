package processor

import (
	"sync"
	"testing"
)

func TestNumber(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				if n := Number(); n < 0 {
					t.Errorf("processor %d", n)
				}
				if n := scheduled(); n < 0 {
					t.Errorf("processor %d of the scheduler", n)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkNumber(b *testing.B) {
	for b.Loop() {
		Number()
	}
}

func BenchmarkScheduled(b *testing.B) {
	for b.Loop() {
		scheduled()
	}
}
