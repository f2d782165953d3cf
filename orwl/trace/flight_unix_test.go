//go:build unix

package trace

import (
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// At SIGQUIT the program goes on, and what its tasks did last is in a file.
func TestFlightAtAQuestion(t *testing.T) {
	name := ""
	files, log, err := flown(t, orwl.Options{}, func(wrote <-chan string) error {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGQUIT); err != nil {
			return err
		}
		name = <-wrote
		return nil
	})
	if err != nil || len(files) != 1 || files[0] != name || !strings.HasSuffix(name, "-quit.json") {
		t.Fatalf("%v, files %q\n%s", err, files, log)
	}
	trace := recordedIn(t, name)
	if a := trace.Tracks[0]; len(a.Turns) < 50 || a.Slices[len(a.Slices)-1].To != trace.To {
		t.Errorf("%d turns of a, and the last slice is %+v of %v", len(a.Turns), a.Slices[len(a.Slices)-1], trace.To)
	}
}
