//go:build unix

package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab/experiments"
)

// TestExperiments makes a share of all four: at least the first run of each.
func TestExperiments(t *testing.T) {
	rings.Needs(t, rings.Change)
	llk23 := filepath.Join(t.TempDir(), "llk23")
	build := exec.Command("go", "build", "-o", llk23, "./apps/llk23")
	build.Dir = "../../.." // llk23 has modules that the laboratory lacks
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	folder := filepath.Join(t.TempDir(), "results")
	code, stdout, stderr := try(t, "experiments", "-time", "5s", "-scale", "0.01", "-llk23", llk23, "-to", folder)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, complains %q, prints\n%s", code, stderr, stdout)
	}
	file, err := os.Open(filepath.Join(folder, "measured.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ran := make(map[string]int)
	for _, row := range rows[1:] {
		if row[12] == "" && row[13] == "" {
			ran[row[0]]++
		}
	}
	if len(rows) != 1+4+3+2+4 || ran["2a"] == 0 || ran["2c"] == 0 || ran["2d"] == 0 {
		t.Errorf("%d runs were made, %v of them here: want 4 of 2a, 3 of 2c and 2 of 2d, and 4 predictions, at least one of each\n%s", len(rows)-1, ran, stdout)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil || strings.Count(string(page), "<svg") != 5 || !strings.HasSuffix(stdout, "s\n") {
		t.Errorf("the page has %d bytes, %v, and the program says\n%s", len(page), err, stdout)
	}
}

func TestExperimentsRefuse(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"-time 1s", "5s to 20m"}, {"-time 21m", "5s to 20m"}, {"-scale 2", "up to 1"}, {"-scale -1", "up to 1"}, {"-kernel slow", "listing or fast"}, {"now", `"now"`},
		{"-llk23 nosuchprogram", "-llk23: exec: \"nosuchprogram\": executable file not found in $PATH: install it by go install ./apps/llk23"},
	} {
		code, stdout, stderr := try(t, append([]string{"experiments"}, strings.Fields(c.args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("experiments %s: exit code %d, prints %q and %q, want 2 and %q", c.args, code, stdout, stderr, c.says)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	self, err := os.Executable() // it is not started
	if err != nil {
		t.Fatal(err)
	}
	f := flag.NewFlagSet("experiments", flag.ContinueOnError)
	err = experiments.Run(ctx, f, []string{"-time", "5s", "-llk23", self, "-to", t.TempDir()}, io.Discard)
	var exit *command.ExitError
	if !errors.As(err, &exit) || exit.Code != command.Interrupted || !strings.Contains(err.Error(), "stopped without a result") {
		t.Errorf("interrupted: %v", err)
	}
}
