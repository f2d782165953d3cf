//go:build !linux

package faultpage

import (
	"errors"
	"testing"
)

func TestNoFaultPages(t *testing.T) {
	var g Space
	if p, err := g.NewMemory("r", 8); p != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("fault pages is %v, %v, want ErrUnsupported", p, err)
	}
}
