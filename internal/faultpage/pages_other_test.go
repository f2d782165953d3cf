//go:build !linux

package faultpage

import (
	"errors"
	"testing"
)

func TestNoFaultPages(t *testing.T) {
	var space Space
	if p, err := space.NewMemory("r", 8); p != nil || !errors.Is(err, ErrUnsupported) {
		t.Errorf("NewMemory is %v, %v, want ErrUnsupported", p, err)
	}
}
