package arena

import (
	"testing"

	"github.com/orwl/go-orwl/internal/memory"
)

// A play that takes more memory than is free is refused, with the numbers.
func TestFits(t *testing.T) {
	if err := fits(64, 1000, memory.Room{Bytes: 10e6, Of: "this machine"}); err != nil {
		t.Error(err)
	}
	err := fits(65536, 266000, memory.Room{Bytes: 16e9, Of: "this machine"})
	if want := "arena: 65536 ranks with 266000 words each take 228.8 GB of memory, and this machine has 16.0 GB free: play fewer ranks"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
