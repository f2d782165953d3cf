package taskbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// TestPeersCompute looks at what the compiler has made of the compute-bound kernel of peers in C: 16 vectors in registers
// of their own. With the same values in all of them gcc computed one, and the peer did a sixteenth of the work.
func TestPeersCompute(t *testing.T) {
	rings.Needs(t, rings.Change)
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, sources); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "peers", "openmp")
	if text, err := exec.Command(gcc, "-O3", "-march=x86-64-v3", "-std=gnu11", "-fopenmp", "-S", "-o", file+".s", file+".c").CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, text) // another processor
	}
	text, err := os.ReadFile(file + ".s")
	if err != nil {
		t.Fatal(err)
	}
	registers := make(map[string]bool)
	for _, line := range strings.Split(string(text), "\n") {
		if found := regexp.MustCompile(`vfmadd\d+pd\s+(%ymm\d+), (%ymm\d+), (%ymm\d+)`).FindStringSubmatch(line); found != nil && found[1] == found[2] && found[1] == found[3] {
			registers[found[1]] = true
		}
	}
	if len(registers) != lanes/4 {
		t.Errorf("the kernel has %d vectors of four numbers, want %d", len(registers), lanes/4)
	}
}
