//go:build !race

package exact

import (
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/orwl/go-orwl/orwl/exact/internal/plain"
)

// each runs a test with all that the processor has, and with less.
func each(t *testing.T, test func(t *testing.T)) {
	defer func(avx2, avx512 bool) { cpu.X86.HasAVX2, cpu.X86.HasAVX512F = avx2, avx512 }(cpu.X86.HasAVX2, cpu.X86.HasAVX512F)
	if vectors() && cpu.X86.HasAVX512F {
		t.Run("AVX-512", test)
		cpu.X86.HasAVX512F = false
	}
	if vectors() {
		t.Run("AVX2", test)
		cpu.X86.HasAVX2 = false
	}
	t.Run("Go", test)
}

// vectorRows are the loops that stand in assembly.
var vectorRows = []row{{"plain AVX2", func(x, _ []float64) float64 { return plain.AVX2(&x[0], len(x)) }}}
