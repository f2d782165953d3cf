package mem

import (
	"testing"

	_ "github.com/orwl/go-orwl/locks/lockstest"
	_ "github.com/orwl/go-orwl/net/rmatest"
	_ "github.com/orwl/go-orwl/orwl"
)

func TestNothing(t *testing.T) { t.Error("planted") }
