package main

import (
	"regexp"
	"testing"
)

// TestPin asks for pinned workers: each task has a CPU, and none has without the flag.
func TestPin(t *testing.T) {
	for pin, want := range map[string]string{"-pin": `(?m)^block 0,0 +0 +0 +\d+ `, "-pin=false": `(?m)^block 0,0 +0 +0 +- `} {
		code, _, stderr := program(t, "-grid", "2x1", "-block", "1x20", "-iters", "5", "-why", pin)
		if code != 0 || !regexp.MustCompile(want).MatchString(stderr) {
			t.Errorf("%s: exit code %d, says\n%s", pin, code, stderr)
		}
	}
}
