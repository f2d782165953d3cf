package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/claims"
)

func TestReproduce(t *testing.T) {
	page := filepath.Join(t.TempDir(), "claims.html")
	for _, c := range []struct{ form, says string }{
		{"-csv", "figure,run,claim,came,holds,why,broken_by\nUffmann22 benchmark 5.5a,"},
		{"-json", `"figure": "Uffmann22 benchmark 5.5a"`},
		{"-html=" + page, "Uffmann22 benchmark 5.5a: CLH, free locks\n"},
	} {
		code, out, complaints := try(t, "reproduce", "-figure", "Uffmann22 benchmark 5.5a", c.form)
		if code != command.Done || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit code %d, %s\n%s", c.form, code, complaints, out)
		}
	}
	// -out has in its folder what the other flags print.
	folder := filepath.Join(t.TempDir(), "made", "claims")
	code, out, complaints := try(t, "reproduce", "-figure", "Uffmann22 benchmark 5.5a", "-csv", "-out", folder)
	if code != command.Done {
		t.Fatalf("exit code %d, %s", code, complaints)
	}
	for name, want := range map[string]func() ([]byte, error){
		"claims.csv": func() ([]byte, error) { return []byte(out), nil },
		"index.html": func() ([]byte, error) { return os.ReadFile(page) },
	} {
		text, err := want()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != string(text) {
			t.Errorf("-out writes %s with %d bytes, %v, want what is printed, %d bytes", name, len(got), err, len(text))
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "<svg") {
		t.Errorf("the page has no picture:\n%s", text)
	}
}

// TestShares checks that shares of the figures are all of them, each once.
func TestShares(t *testing.T) {
	seen := map[string]int{}
	for _, share := range []string{"1/3", "2/3", "3/3"} {
		studies, err := selectStudies("*", share)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range studies {
			seen[s.Figure]++
		}
	}
	for _, s := range claims.Studies() {
		if seen[s.Figure] != 1 {
			t.Errorf("%s is in %d shares", s.Figure, seen[s.Figure])
		}
	}
}
