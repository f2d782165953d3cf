package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/tune"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma/model"
)

// quick are flags of a search that takes milliseconds.
const quick = "tune -lock d-mcs,rma-mcs,rma-rw -default d-mcs -window sim -machine piz-daint -ranks 8 -nodes 2 -search 300us -budget 12 -repeats 6 "

func TestTune(t *testing.T) {
	code, out, complaints := try(t, strings.Fields(quick+"-json")...)
	var rows []tuned
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != command.Done {
		t.Fatalf("exit code %d, %v, %s\n%s", code, err, complaints, out)
	}
	best := 0
	for i, r := range rows {
		if (i == 0) != r.Default || r.Gain == nil || r.Predicted == nil {
			t.Errorf("row %d is %+v", i, r)
		}
		if r.Best {
			best++
		}
	}
	if len(rows) != 3 || rows[0].Lock != "D-MCS" || rows[0].Gain.Median != 1 || best != 1 || !rows[1].Best || rows[1].Lock != "RMA-RW" {
		t.Errorf("want D-MCS as the default, and RMA-RW as the best:\n%s", out)
	}
	if _, again, _ := try(t, strings.Fields(quick+"-json")...); again != out {
		t.Errorf("another run with the same seed:\n%s\nand\n%s", out, again)
	}
	for form, wants := range map[string][]string{
		"-csv":                    {"lock,options,default,predicted_ns,", "D-MCS,locks.Options{},true,"},
		"-fw 2":                   {"ECSB on node:2 core:4: iteration\nsearched in 12 plays of 300µs on piz-daint", "described machines", "verified on sim", "locks.Options{}, the default", " times as fast as D-MCS as it is (97 % sure: ", `lock, options := "RMA-RW", locks.Options{`},
		"-verify 0 -goal latency": {": latency\n", "No candidate is surely faster than D-MCS as it is.\n"},
	} {
		code, out, complaints := try(t, strings.Fields(quick+form)...)
		for _, want := range wants {
			if code != command.Done || !strings.Contains(out, want) {
				t.Errorf("%s: exit code %d, %s, want %q:\n%s", form, code, complaints, want, out)
			}
		}
	}
}

// A recorded workload says how many ranks there are, and which turns write.
func TestTuneRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "turns.csv")
	text := "rank,write,hold_ns,outside_ns\n"
	for rank := range 4 {
		text += fmt.Sprintf("%d,false,500,2000\n%d,false,500,2000\n%d,true,100,0\n", rank, rank, rank)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := try(t, strings.Fields(quick+"-recorded "+file)...)
	if code != command.Done || !strings.Contains(out, "RECORDED on node:2 core:2: iteration\n") || !strings.Contains(out, "lock, options := ") {
		t.Errorf("exit code %d, %s\n%s", code, complaints, out)
	}
	for flags, want := range map[string]string{
		"-recorded " + file + " -topology node:2": "the recording has 4 ranks, and node:2 has 2",
		"-recorded " + file + " -nodes 5":         "-nodes is 5, and the recording has 4 ranks",
		"-recorded nosuch":                        "-recorded: open nosuch",
		"-recorded /dev/null":                     "-recorded: /dev/null: lab: recording: no header",
	} {
		if code, _, complaints := try(t, strings.Fields(quick+flags)...); code == command.Done || !strings.Contains(complaints, want) {
			t.Errorf("%s: exit code %d, %q, want %q", flags, code, complaints, want)
		}
	}
}

// On this machine the search plays on what was measured.
func TestTuneHere(t *testing.T) {
	rings.Needs(t, rings.Change)
	code, out, complaints := try(t, strings.Fields("tune -lock mcs,tts -ranks 2 -search 100us -budget 6 -verify 1 -turns 20 -repeats 2")...)
	if code != command.Done || !strings.Contains(out, "(measured), ") || !strings.Contains(out, ", verified on mem") || !strings.Contains(out, "RMA-RW") {
		t.Errorf("exit code %d, %s\n%s", code, complaints, out)
	}
}

// The best candidate is surely faster, and is no more unfair than the bound or the default.
func TestTunedRows(t *testing.T) {
	spec := func(name string) tune.Candidate {
		s, _ := lab.LockByName(name)
		return tune.Candidate{Lock: s}
	}
	asItIs := tune.Candidate{Lock: spec("rma-rw").Lock, Options: locks.Options{}}
	gain := func(name string, low, median, cv float64) tune.Gain {
		return tune.Gain{Candidate: spec(name), Gain: lab.Estimate{Low: low, Median: median, N: 6}, CV: lab.Estimate{Median: cv}}
	}
	found := []tune.Scored{{Candidate: spec("tas")}, {Candidate: spec("tts")}, {Candidate: spec("mcs")}, {Candidate: asItIs}, {Candidate: spec("clh")}}
	for _, c := range []struct {
		name string
		cv   float64 // of the default
		want string
		tts  tune.Gain
	}{
		{"too unfair", .1, "MCS", gain("tts", 2, 4, .6)},
		{"as unfair as the default", .6, "TTS", gain("tts", 2, 4, .6)},
		{"not surely faster", .1, "MCS", gain("tts", 1, 4, .2)},
		{"fair, and the fastest", .1, "TTS", gain("tts", 1.1, 4, .2)},
	} {
		rows := tunedRows(asItIs, found, []tune.Gain{gain("rma-rw", 1, 1, c.cv), c.tts, gain("mcs", 1.2, 3, .1)}, tune.Bounds{CV: .3})
		best := ""
		for _, r := range rows {
			if r.Best {
				best += r.Lock
			}
		}
		if best != c.want || len(rows) != len(found) || rows[0].Lock != "RMA-RW" || rows[0].Predicted == nil {
			t.Errorf("%s: the best is %q, want %s", c.name, best, c.want)
		}
	}
	if text := verdictOfTuning(tunedRows(asItIs, found, nil, tune.Bounds{})); text != "Nothing was verified.\n" {
		t.Error(text)
	}
}

// A mistake in the command line is found before this machine is measured, which takes seconds.
func TestTuneChecksFirst(t *testing.T) {
	for args, want := range map[string]string{
		"":                 "",
		"-window mem,shm":  `-window is "mem,shm", want one`,
		"-bench lb,snap":   "-bench: SNAP is no loop around one lock",
		"-default nosuch":  `-default: no lock "nosuch"`,
		"-recorded nosuch": "-recorded: open nosuch",
		"-outside x":       `-outside: "x": `,
		"-ranks 0":         `-ranks: "0": want 1 to `,
	} {
		run := tuning{progress: newProgress(io.Discard)}
		_, _, err := run.prepare(flag.NewFlagSet("orwl-lab tune", flag.ContinueOnError), strings.Fields(args))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("tune %s: %v, want %s", args, err, want)
		}
		if run.machineName != here || run.machine.Name != "" {
			t.Errorf("tune %s has measured %s", args, run.machine.Name)
		}
	}
}

// An interrupt prints what there is. A play is long enough for ranks that take turns on processors.
func TestTuneEnds(t *testing.T) {
	f := flag.NewFlagSet("orwl-lab tune", flag.ContinueOnError)
	run := tuning{progress: newProgress(io.Discard)}
	plan, asItIs, err := run.prepare(f, strings.Fields(quick)[1:])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if err := run.run(ctx, plan, asItIs, &out); !errors.Is(err, errCutShort) || !strings.Contains(out.String(), "Nothing was verified.") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if got := run.virtualTime(); got != 300*time.Microsecond {
		t.Errorf("a play takes %v, want what -search says", got)
	}
	for slice, want := range map[time.Duration]time.Duration{time.Millisecond: 4 * time.Millisecond, time.Second: shortest[arena.SHM]} {
		run.machine.Scheduler, run.workload.Plan.Windows = &model.Scheduler{Processors: 7, Slice: float64(slice)}, []string{arena.SHM}
		if got := run.virtualTime(); got != want {
			t.Errorf("a play of 8 ranks on 7 processors with a slice of %v takes %v, want %v", slice, got, want)
		}
	}
}
