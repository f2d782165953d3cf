package main

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	usual := func(change func(*options)) options {
		o := options{iters: 100, kernel: "listing", tasks: fused, init: "hills", verify: true}
		change(&o)
		return o
	}
	for _, c := range []struct {
		args string
		want options
	}{
		{"", usual(func(o *options) {})},
		{"-init smooth", usual(func(o *options) { o.init = "noise" })},
		{"-grid 1x3", usual(func(o *options) { o.grid = size{1, 3} })},
		{"-block 7x5 -iters 3 -sweeps 2 -verify=false -json", usual(func(o *options) { o.block, o.iters, o.sweeps, o.verify, o.json = size{7, 5}, 3, 2, false, true })},
		{"--tasks=9 --kernel listing -init lfk", usual(func(o *options) { o.tasks, o.init = nine, "lfk" })},
		{"-tasks fused -init a.npy -out b.npy -trace c.json -plot d.png", usual(func(o *options) { o.init, o.out, o.trace, o.plot = "a.npy", "b.npy", "c.json", "d.png" })},
	} {
		if got, err := parse(strings.Fields(c.args)); err != nil || got != c.want {
			t.Errorf("llk23 %s: %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string // the texts that the one line must contain
	}{
		{"-grid 0x4", []string{"-grid", `"0x4"`, "1 to 4096"}},
		{"-grid 4", []string{"-grid", "4x4", "1 to 4096"}},
		{"-grid 4x", []string{"-grid", "1 to 4096"}},
		{"-grid 4x4x4", []string{"-grid", "1 to 4096"}},
		{"-grid 4097x1", []string{"-grid", "1 to 4096"}},
		{"-grid 1x4097", []string{"-grid", "1 to 4096"}},
		{"-grid", []string{"-grid", "needs a value"}},
		{"-ndoes 4", []string{"did you mean -nodes?"}},
		{"-block 5x-5", []string{"-block", "1 to 1048576"}},
		{"-block 1x1048577", []string{"-block", "1 to 1048576"}},
		{"-block 1.5x2", []string{"-block", "1 to 1048576"}},
		{"-block 1x99999999999999999999", []string{"-block", "1 to 1048576"}},
		{"-iters 0", []string{"-iters", "1 to 1073741824"}},
		{"-iters -1", []string{"-iters", "1 to 1073741824"}},
		{"-iters many", []string{"-iters", `"many"`, "whole number"}},
		{"-kernel slow", []string{"-kernel", `"slow"`, "listing"}},
		{"-tasks 8", []string{"-tasks", `"8"`, "fused or 9"}},
		{"-init rough", []string{"-init", `"rough"`, "hills, noise, lfk", ".npy"}},
		{"-init .npy", []string{"-init", ".npy"}},
		{"-out x.txt", []string{"-out", ".npy"}},
		{"-trace x.png", []string{"-trace", ".json"}},
		{"-plot x.npy", []string{"-plot", ".png"}},
		{"-verify=maybe", []string{"-verify", `"maybe"`, "true or false"}},
		{"-json=1.5", []string{"-json", "true or false"}},
		{"-colours", []string{"-colours"}},
		{"sweep", []string{`"sweep"`}},
		{"-verify false", []string{`"false"`}}, // a switch takes its value after =
		{"-json -- -iters 3", []string{`"-iters"`}},
	} {
		code, stdout, stderr := program(t, strings.Fields(c.args)...)
		if code != 2 {
			t.Errorf("llk23 %s: exit code %d, want 2", c.args, code)
		}
		if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
			t.Errorf("llk23 %s: prints %q, want one line", c.args, stderr)
		}
		for _, want := range append(c.says, "llk23: ", "llk23 -h") {
			if !strings.Contains(stderr, want) {
				t.Errorf("llk23 %s: %q does not mention %s", c.args, stderr, want)
			}
		}
		if stdout != "" {
			t.Errorf("llk23 %s: prints %q as a result", c.args, stdout)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "-help", "--help"} {
		code, stdout, stderr := program(t, "-iters", "3", arg)
		if code != 0 || stderr != "" {
			t.Errorf("llk23 %s: exit code %d, complains %q", arg, code, stderr)
		}
		o := options{}
		o.flagSet().VisitAll(func(f *flag.Flag) {
			if !strings.Contains(stdout, "\n  -"+f.Name+" ") {
				t.Errorf("llk23 %s: says nothing about -%s", arg, f.Name)
			}
		})
	}
	if _, err := parse([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("parse: %v, want %v", err, flag.ErrHelp)
	}
}
