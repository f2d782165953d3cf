//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestVetLives has a program print the same, other lines, or say nothing of lives, by the seed of its lives.
func TestVetLives(t *testing.T) {
	t.Parallel()
	const says = `echo "orwl: the run goes on" >&2; `
	for what, c := range map[string]struct {
		script, ignore string
		code           int
		want           string
	}{
		"the same lines in another order":  {says + `if [ "$ORWL_LIVES" = 2 ]; then printf '[1] b\n[0] a\n'; else printf '[0] a\n[2] b\n'; fi`, "", 0, "the same lines 3 times, over 3 ends of lives"},
		"another line":                     {says + `echo "a${ORWL_LIVES#1}"`, "", 1, `ORWL_LIVES=2`},
		"another line that may be another": {says + `echo a; echo "took $ORWL_LIVES s"`, "^took", 0, "the same lines 3 times"},
		"no life has ended":                {`echo a`, "", 1, "no life has ended"},
		"a failure in another life":        {says + `[ "$ORWL_LIVES" != 3 ]`, "", 1, "ORWL_LIVES=3"},
		"a failure without lives":          {`exit 4`, "", 1, "fails without lives that end"},
	} {
		args := []string{"vet", "-lives", "3"}
		if c.ignore != "" {
			args = append(args, "-ignore", c.ignore)
		}
		code, out, complaints := try(t, append(args, "--", "sh", "-c", c.script)...)
		if code != c.code || !strings.Contains(out+complaints, c.want) {
			t.Errorf("%s: code %d, %s%s", what, code, out, complaints)
		}
	}
	if code, _, complaints := try(t, "vet", "-ignore", "x", "-"); code != 2 || !strings.Contains(complaints, "-lives") {
		t.Errorf("-ignore alone: code %d, %s", code, complaints)
	}
}
