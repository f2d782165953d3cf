package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/report"
)

// TestBenchPeers has our lock and a lock of Go in one report.
func TestBenchPeers(t *testing.T) {
	var out, complaints bytes.Buffer
	args := strings.Fields("bench -lock mcs -bench ecsb -ranks 2 -turns 50 -repeats 1 -uncounted -json -peers go,pthread")
	if code := program.Execute(args, &out, &complaints); code != command.Done {
		t.Fatalf("exit code %d: %s", code, &complaints)
	}
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, result := range r.Results {
		got = append(got, result.Window+" "+result.Lock)
		if f, ok := result.Figure("throughput"); !ok || f.Median <= 0 {
			t.Errorf("%s of %s: %+v", result.Lock, result.Window, result.Figures)
		}
	}
	want := "mem MCS,go sync.Mutex,go sync.RWMutex,go xsync.RBMutex"
	if _, err := exec.LookPath("gcc"); err == nil {
		want += ",pthread pthread_mutex,pthread pthread_rwlock,pthread pthread_spin"
	}
	if strings.Join(got, ",") != want {
		t.Errorf("the results are %q, want %q", got, want)
	}
}

// TestBenchWithoutCompiler says what is missing, and plays the rest.
func TestBenchWithoutCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, complaints bytes.Buffer
	args := strings.Fields("bench -lock mcs -bench ecsb -ranks 2 -turns 50 -repeats 1 -uncounted -peers ck,mpi")
	if code := program.Execute(args, &out, &complaints); code != command.Done {
		t.Fatalf("exit code %d: %s", code, &complaints)
	}
	for _, want := range []string{"MCS", "ck: not installed: C (Debian: gcc libc6-dev)", "mpich: not installed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
}
