//go:build unix

package launch

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/terminal"
)

// seen says whether a person sees what the node writes on standard error.
func seen() int {
	attend()
	fmt.Println("seen", terminal.IsSeen(os.Stderr))
	return 0
}

// Nodes learn whether a person sees their lines, here and over ssh. The answer of the launcher's own
// launcher does not count: the lines go to another place.
func TestSeen(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	fakeSSH(t)
	for name, run := range map[string]func(string) Run{"here": of, "over ssh": elsewhere} {
		if name == "here" {
			t.Setenv(terminal.Variable, "1")
		} else {
			t.Setenv(terminal.Variable, "") // ssh takes no variables along
		}
		for to, want := range map[io.Writer]string{tty: "seen true", io.Discard: "seen false"} {
			var out strings.Builder
			r := run("seen")
			r.Stdout, r.Stderr = &out, to
			if err := Spawn(soon(t), r); err != nil || strings.Count(out.String(), want) != r.Nodes {
				t.Errorf("%s, standard error is %T: %v, want %s of each:\n%s", name, to, err, want, out.String())
			}
		}
	}
}
