package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that cannot be written whole keeps what it had.
func TestWholeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page")
	say := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	if err := wholeFile("html", name, say("whole", nil)); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no more")
	if err := wholeFile("html", name, say("ha", failure)); !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), "-html: ") {
		t.Errorf("the error is %v, want -html: %v", err, failure)
	}
	if text, err := os.ReadFile(name); string(text) != "whole" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if err := wholeFile("html", "", say("", failure)); err != nil {
		t.Errorf("without a name: %v", err)
	}
}
