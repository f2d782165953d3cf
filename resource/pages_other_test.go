//go:build !linux

package resource

import (
	"errors"
	"testing"
)

func TestNoGuardPages(t *testing.T) {
	var g Guards
	if p, err := g.NewPages("r", 8); p != nil || !errors.Is(err, ErrNoGuardPages) {
		t.Errorf("guarded memory is %v, %v, want ErrNoGuardPages", p, err)
	}
}
