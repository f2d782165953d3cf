package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/liveness"
)

func TestReadTimes(t *testing.T) {
	s := liveness.System{Tasks: []liveness.Task{{Name: "a"}, {Name: "row 1"}, {Name: "c"}}}
	for text, want := range map[string]string{
		"a 1ns\n\"row 1\" 2us # later\n# nothing\n\n\tc\t3ms": "",
		"a 1ns":                      `"row 1" and 1 more have no time: add lines such as "row 1" 4.5µs`,
		"a 1ns\nc 1ns":               `"row 1" has no time: add a line such as "row 1" 4.5µs`,
		"a 1ns\na 1ns":               "line 2: line 1 has a time for a too: leave one out",
		"a 1ns\nrow 1 1ns":           "line 2: f describes no task row: leave the line out, or correct the name",
		"a":                          "line 1: a has no time: write one behind it, such as a 4.5µs",
		"a#1s":                       "line 1: a has no time: write one behind it, such as a 4.5µs",
		"a 4":                        `line 1: a takes "4": want a time such as 800ns, 4.5µs or 2ms`,
		"a -4s":                      `line 1: a takes "-4s": want a time such as 800ns, 4.5µs or 2ms`,
		"a 1s 2s":                    `line 1: a takes "1s 2s": want a time such as 800ns, 4.5µs or 2ms`,
		"a 1000000h\nc 1000000h":     "line 2: with c all tasks together take more than 1281023h53m38.427387903s: want less",
		"\"a 1s":                     `line 1: the quoted name has no end: quote it as in Go, such as "row 1"`,
		"\"\" 1s":                    "line 1: the quoted name is empty: want the name of a task",
		strings.Repeat("a", 100_000): "bufio.Scanner: token too long",
	} {
		times := make([]time.Duration, 3)
		err := readTimes(strings.NewReader(text), s, "f", times)
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
		if err == nil && !slices.Equal(times, []time.Duration{1, 2 * time.Microsecond, 3 * time.Millisecond}) {
			t.Errorf("%.40q: %v", text, times)
		}
	}
}

// The text shows only a part of a long circle.
func TestVetLongCircle(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "task t%d: write shared\n", i)
	}
	out := vetSpeed(t, text.String())
	want := "period at least 20µs: t0 (1µs), then t1 (1µs), then t2 (1µs), then t3 (1µs), then t4 (1µs), then t5 (1µs), then t6 (1µs), then t7 (1µs), " +
		"then t8 (1µs), then t9 (1µs), then t10 (1µs), then 8 more, then t19 (1µs) wait for each other in a circle of 1 round\n"
	if !strings.Contains(out, want) {
		t.Errorf("%s, want\n%s", out, want)
	}
}

// A task that holds its accesses one after the other stands in a circle with others, and its time does
// not count there.
func TestVetDividedTime(t *testing.T) {
	out := vetSpeed(t, "task a: write x, write y\ntask b: write y, write z\ntask c: write z, write u\ntask d: write u, write v\ntask e: write v, write w\n"+
		"task f: write w, write x: acquire 1, release 1, acquire 2, release 2\n")
	if want := "period at least 2.5µs: a (1µs), then b (1µs), then c (1µs), then d (1µs), then e (1µs), then f (an unknown part of 1µs) wait for each other in a circle of 2 rounds, 5µs in all\n"; !strings.Contains(out, want) {
		t.Errorf("%s, want\n%s", out, want)
	}
}

// vetSpeed is what orwl vet -speed prints for a system.
func vetSpeed(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tasks.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := try(t, "vet", "-speed", file)
	if code != command.Done {
		t.Fatal(complaints)
	}
	return out
}
