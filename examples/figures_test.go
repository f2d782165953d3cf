package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README compares the cube and the bytes of life with OpenMP. Its figures are from the table of examples, which the
// benchmark Forms has measured.
func TestReadmeOpenMP(t *testing.T) {
	row := tableRow(t, "README.md", "| loops over arrays on one machine")
	if !strings.Contains(row, "docs/reference/stencils.md#how-fast-the-examples-are") {
		t.Errorf("the README does not say where its figures are from: %s", row)
	}
	for name, form := range map[string]string{"jacobi3d": "a cube takes %s of OpenMP's time", "life": "cells of bytes take %s"} {
		cells := strings.Split(tableRow(t, "docs/reference/stencils.md", "| "+name+" |"), "|")
		figure := strings.TrimSpace(cells[len(cells)-2])
		if want := strings.ReplaceAll(form, "%s", figure); !strings.Contains(row, want) {
			t.Errorf("the table has %s for %s, and the README lacks %q: %s", figure, name, want, row)
		}
	}
}

// tableRow is the line of a page that begins with a text.
func tableRow(t *testing.T, page, begins string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begins) {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("%s has no line that begins with %q", page, begins)
	return ""
}
