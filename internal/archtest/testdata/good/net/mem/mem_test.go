package mem

import (
	"testing"

	_ "github.com/orwl/go-orwl/net/rmatest"
)

func TestRanks(t *testing.T) {
	time := sleeper{}
	time.Sleep() // not the standard library's
	if Ranks() != 1 {
		t.Error("the suite is a test's to use")
	}
}

type sleeper struct{}

func (sleeper) Sleep() {}
