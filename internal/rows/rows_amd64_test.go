//go:build !race

package rows

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// each runs a test with all that the processor has, and with less.
func each(t *testing.T, test func(t *testing.T)) {
	defer func(was512, was bool) { cpu.X86.HasAVX512F, cpu.X86.HasAVX = was512, was }(cpu.X86.HasAVX512F, cpu.X86.HasAVX)
	if cpu.X86.HasAVX512F {
		t.Run("AVX-512", test)
		cpu.X86.HasAVX512F = false
	}
	if cpu.X86.HasAVX {
		t.Run("AVX", test)
		cpu.X86.HasAVX = false
	}
	t.Run("Go", test)
}
