package main

import (
	"errors"
	"flag"
	"runtime"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		args string
		want options
	}{
		{"", options{rows: 2000, cols: 2000, iters: 100, ranks: processors, verify: true}},
		{"-rows 1", options{rows: 1, cols: 2000, iters: 100, ranks: 1, verify: true}},
		{"-rows 7 -cols 5 -iters 3 -ranks 7 -verify=false -json",
			options{rows: 7, cols: 5, iters: 3, ranks: 7, json: true}},
		{"--rows=9 --verify --ranks 2", options{rows: 9, cols: 2000, iters: 100, ranks: 2, verify: true}},
	} {
		if got, err := parse(strings.Fields(c.args)); err != nil || got != c.want {
			t.Errorf("llk23 %s: %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string // what the one line must contain
	}{
		{"-rows 0", []string{"-rows", "1 to 1048576"}},
		{"-rows -5", []string{"-rows", "1 to 1048576"}},
		{"-rows 1048577", []string{"-rows", "1 to 1048576"}},
		{"-rows many", []string{"-rows", `"many"`, "1 to 1048576"}},
		{"-rows 2.5", []string{"-rows", "whole number"}},
		{"-rows 99999999999999999999", []string{"-rows", "1 to 1048576"}},
		{"-rows", []string{"-rows", "needs an argument"}},
		{"-cols 0", []string{"-cols", "1 to 1048576"}},
		{"-iters 0", []string{"-iters", "1 to 1073741824"}},
		{"-ranks 0", []string{"-ranks", "1 to 4096"}},
		{"-ranks 5 -rows 4", []string{"-ranks 5", "-rows 4", "at most 4"}},
		{"-rows 1048576 -cols 1048576", []string{"-rows 1048576", "-cols 1048576", "at most 4096"}},
		{"-verify=maybe", []string{"-verify", `"maybe"`, "true or false"}},
		{"-json=1.5", []string{"-json", "true or false"}},
		{"-colours", []string{"-colours"}},
		{"sweep", []string{`"sweep"`}},
		{"-verify false", []string{`"false"`}}, // a switch takes its value after =
		{"-json -- -rows 3", []string{`"-rows"`}},
	} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), strings.Fields(c.args), &stdout, &stderr); code != 2 {
			t.Errorf("llk23 %s: exit code %d, want 2", c.args, code)
		}
		if text := stderr.String(); strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("llk23 %s: prints %q, want one line", c.args, text)
		}
		for _, want := range append(c.says, "llk23: ", "llk23 -h") {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("llk23 %s: %q does not mention %s", c.args, stderr.String(), want)
			}
		}
		if stdout.Len() > 0 {
			t.Errorf("llk23 %s: prints %q as a result", c.args, stdout.String())
		}
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "-help", "--help"} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), []string{"-rows", "3", arg}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
			t.Errorf("llk23 %s: exit code %d, complains %q", arg, code, stderr.String())
		}
		defaults := options{}
		defaults.flagSet().VisitAll(func(f *flag.Flag) {
			if !strings.Contains(stdout.String(), "\n  -"+f.Name) {
				t.Errorf("llk23 %s: says nothing about -%s", arg, f.Name)
			}
		})
	}
	if _, err := parse([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("parse: %v, want %v", err, flag.ErrHelp)
	}
}
