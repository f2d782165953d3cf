package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/trace"
)

const smallTrace = "../../orwl/trace/testdata/small.json"

func TestTraceReport(t *testing.T) {
	want, err := os.ReadFile("../../orwl/trace/testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, complaints := try(t, "trace", "report", smallTrace); code != command.Done || out != string(want) {
		t.Errorf("exit code %d %s\n%s, want\n%s", code, complaints, out, want)
	}
	code, out, _ := try(t, "trace", "report", "-json", "-waits", "2", smallTrace)
	var r trace.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != command.Done {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if r.Seconds != 0.024 || len(r.Tasks) != 3 || len(r.Waits) != 2 || r.Path.Seconds != 0.024 {
		t.Errorf("%+v", r)
	}
	if code, out, _ := try(t, "trace", "report", "-waits", "0", smallTrace); code != command.Done || strings.Contains(out, "longest waits") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if code, out, complaints := try(t, "trace", "report", "-html", page, smallTrace); code != command.Done || out != string(want) {
		t.Errorf("exit code %d %s\n%s", code, complaints, out)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.HasPrefix(string(text), "<!doctype html>") || !strings.Contains(string(text), `"tasks":["reader`) {
		t.Errorf("the page is %.200q, %v", text, err)
	}
	for _, args := range [][]string{{"trace", "-h"}, {"trace", "report", "-h"}} {
		if code, out, _ := try(t, args...); code != command.Done || !strings.Contains(out, "usage: orwl trace report [FLAGS] FILE") || !strings.Contains(out, "-waits") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
}

func TestTraceReportOfStandardInput(t *testing.T) {
	file, err := os.Open(smallTrace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func(in *os.File) { os.Stdin = in }(os.Stdin)
	os.Stdin = file
	if code, out, complaints := try(t, "trace", "report", "-"); code != command.Done || !strings.HasPrefix(out, "3 tasks on 1 node, in 24ms") {
		t.Errorf("exit code %d %s\n%s", code, complaints, out)
	}
}

// A wrong file gives an error of one line, with the file's name.
func TestTraceOfWrongFiles(t *testing.T) {
	good, err := os.ReadFile(smallTrace)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for want, args := range map[string][]string{
		"say what to do with which trace":               {"trace"},
		`no "run.json": want report`:                    {"trace", "run.json"},
		"no file: name one":                             {"trace", "report"},
		`unexpected argument "-json": flags stand`:      {"trace", "report", smallTrace, "-json"},
		"no flag -jsno (did you mean -json?)":           {"trace", "report", "-jsno", smallTrace},
		"-waits is -1, want 0 to":                       {"trace", "report", "-waits", "-1", smallTrace},
		"none.json: no such file or directory":          {"trace", "report", filepath.Join(dir, "none.json")},
		"is a directory":                                {"trace", "report", dir},
		"text.json: trace: not JSON: byte 1":            {"trace", "report", file("text.json", "hello")},
		"half.json: trace: the file ends in the middle": {"trace", "report", file("half.json", string(good[:len(good)/2]))},
		"other.json: trace: no trace of tasks":          {"trace", "report", file("other.json", `{"traceEvents":[]}`)},
	} {
		code, out, complaints := try(t, args...)
		if code != command.Misused || out != "" || !strings.Contains(complaints, want) || strings.Count(complaints, "\n") != 2 {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s%s", args, code, command.Misused, want, out, complaints)
		}
	}
}
