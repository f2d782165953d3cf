package mem

import (
	"testing"
	"testing/synctest"
	clock "time"

	_ "github.com/orwl/go-orwl/net/rmatest"
)

func TestRanks(t *testing.T) {
	time := sleeper{}
	time.Sleep() // not the standard library's
	if Ranks() != 1 {
		t.Error("the suite is a test's to use")
	}
}

func TestBubble(t *testing.T) {
	synctest.Test(t, func(*testing.T) { clock.Sleep(clock.Hour) }) // nobody waits
}

type sleeper struct{}

func (sleeper) Sleep() {}
