package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

// taskBenchLines are the lines that Task Bench's script for METG looks for, and what this test
// expects there.
var taskBenchLines = map[string]string{
	`(?m)^\s*Iterations: ([0-9]+)$`:   "7",
	`(?m)^\s*Output Bytes: ([0-9]+)$`: "32",
	`(?m)^\s*Time Steps: ([0-9]+)$`:   "23",
	`(?m)^\s*Max Width: ([0-9]+)$`:    "9",
	`(?m)^\s*Total Tasks ([0-9]+)$`:   "207",
	`(?m)^\s*Total FLOPs ([0-9]+)$`:   "198720", // 207 tasks of 2*64*7 + 64
	`(?m)^\s*Total Bytes ([0-9]+)$`:   "0",
	`(?m)^Checksum ([0-9a-f]{16})$`:   "",
}

var elapsedLine = regexp.MustCompile(`(?m)^\s*Elapsed Time ([0-9.e+-]+) seconds$`)

// TestTaskBenchLines runs a graph on one process and on two. The scripts of Task Bench find their
// lines in both, and both compute the same.
func TestTaskBenchLines(t *testing.T) {
	t.Setenv(envProgram, "1")
	var checksums []string
	for _, nodes := range []string{"", " -nodes 2"} {
		args := "taskbench -type spread -steps 23 -width 9 -kernel compute_bound -iter 7 -output 32 -scratch 64" + nodes
		code, out, complaints := try(t, strings.Fields(args)...)
		if code != command.Done {
			t.Fatalf("orwl %s: exit code %d: %s", args, code, complaints)
		}
		for line, want := range taskBenchLines {
			found := regexp.MustCompile(line).FindAllStringSubmatch(out, -1)
			if len(found) != 1 || want != "" && found[0][1] != want {
				t.Errorf("orwl %s: %d lines like %s: %q, want %q", args, len(found), line, found, want)
			}
			if want == "" && len(found) == 1 {
				checksums = append(checksums, found[0][1])
			}
		}
		if found := elapsedLine.FindStringSubmatch(out); found == nil {
			t.Errorf("orwl %s: no time in\n%s", args, out)
		} else if seconds, err := strconv.ParseFloat(found[1], 64); err != nil || seconds <= 0 {
			t.Errorf("orwl %s: took %s: %v", args, found[1], err)
		}
		if nodes != "" && !strings.Contains(out, "Number of Nodes (used for estimate) 2\n") {
			t.Errorf("orwl %s: no number of nodes in\n%s", args, out)
		}
	}
	for _, c := range checksums {
		if len(checksums) != 2 || c != checksums[0] {
			t.Fatalf("checksums %v: want two that are the same", checksums)
		}
	}
}

// TestTaskBenchMisuse has command lines that make no sense.
func TestTaskBenchMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"-type star":             "want one of trivial",
		"-kernel io_bound":       "want one of empty",
		"-system legion":         "no system \"legion\"",
		"-steps 0":               "-steps 0",
		"-width 0":               "-width 0",
		"-radix -1":              "-radix -1",
		"-period 2 -type fft":    "has no period",
		"-type spread -period 9": "-period 9: want 1 to 4",
		"-type spread -width 4 -radix 3 -period 3": "reads a column twice",
		"-type stencil_1d_periodic -width 2":       "reads a column twice",
		"-fraction 1.5":                            "-fraction 1.5",
		"-kernel memory_bound":                     "-scratch 0",
		"-output 20":                               "multiple of 16",
		"-scratch 9":                               "multiple of 8",
		"-imbalance 3":                             "0 to 2",
		"-sample 0":                                "-sample 0",
		"-iter -1":                                 "-iter -1",
		"-field 1":                                 "at least 2",
		"-threshold 1":                             "less than 1",
		"-repeat 0":                                "-repeats is 0",
		"-nodes -1":                                "-nodes is -1",
		"-worker -1":                               "-worker is -1",
		"-steps 4 -and -steps 4 -and -type tree -wide": "wide",
	} {
		code, _, complaints := try(t, append([]string{"taskbench"}, strings.Fields(args)...)...)
		if code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("orwl-lab taskbench %s: exit code %d, %q: want %q", args, code, complaints, want)
		}
	}
}
