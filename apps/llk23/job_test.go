package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/npy"
)

// program runs the program and returns what it prints.
func program(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), withoutProgress(errs.String())
}

// withoutProgress leaves out what a run of more than two seconds says of how far it is: a busy machine is slow.
func withoutProgress(text string) string {
	lines := slices.Collect(strings.Lines(text))
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, `"msg":"sweeping"`) }), "")
}

// TestOutIsReadBack writes a result and goes on with it: twice three iterations
// are six.
func TestOutIsReadBack(t *testing.T) {
	dir := t.TempDir()
	half, all := filepath.Join(dir, "half.npy"), filepath.Join(dir, "all.npy")
	for _, args := range [][]string{
		{"-grid", "2x3", "-block", "5x4", "-iters", "3", "-out", half},
		{"-init", half, "-grid", "5x1", "-iters", "3", "-out", all, "-tasks", "9"},
	} {
		if code, _, stderr := program(t, args...); code != 0 || stderr != "" {
			t.Fatalf("%v: exit code %d, complains %q", args, code, stderr)
		}
	}
	file, err := os.Open(all)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a, data, err := npy.Read(file, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if a.DType != "<f8" || len(a.Shape) != 2 || a.Shape[0] != 12 || a.Shape[1] != 14 {
		t.Errorf("the file has %+v", a)
	}
	var want []byte
	for _, row := range rows(reference(t, problem{rows: 10, cols: 12, iters: 6, kernel: listing(), values: hills(size{10, 12})}).planes[planeData]) {
		want = append(want, bytesOf(row)...)
	}
	if !bytes.Equal(data, want) {
		t.Error("the file differs from the sequential sweep")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v: want two files", left, err)
	}
}

// TestFitsMatrix checks what is chosen for a matrix of a given size.
func TestFitsMatrix(t *testing.T) {
	for _, c := range []struct{ grid, block, whole, wantGrid, wantBlock size }{
		{whole: lfkSize, wantGrid: size{1, 3}, wantBlock: size{5, 33}},
		{whole: size{2000, 400}, wantGrid: size{16, 1}, wantBlock: size{125, 400}},
		{whole: size{160, 400}, wantGrid: size{4, 4}, wantBlock: size{40, 100}}, // 16 blocks would have 10 rows each
		{whole: size{7, 1}, wantGrid: size{1, 1}, wantBlock: size{7, 1}},
		{whole: lfkSize, grid: size{5, 1}, wantGrid: size{5, 1}, wantBlock: size{1, 99}},
		{whole: lfkSize, block: size{1, 11}, wantGrid: size{5, 9}, wantBlock: size{1, 11}},
		{whole: lfkSize, grid: size{1, 9}, block: size{5, 11}, wantGrid: size{1, 9}, wantBlock: size{5, 11}},
	} {
		j := &job{options: options{grid: c.grid, block: c.block}}
		if err := j.fit(c.whole); err != nil || j.grid != c.wantGrid || j.block != c.wantBlock {
			t.Errorf("%v, -grid %v, -block %v: %v of %v, %v, want %v of %v", c.whole, c.grid, c.block, j.grid, j.block, err, c.wantGrid, c.wantBlock)
		}
	}
}

// npyFile writes an array of zeroes.
func npyFile(t *testing.T, a npy.Array) string {
	t.Helper()
	n, err := a.Size()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := npy.Write(&b, a, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	return textFile(t, b.String())
}

func textFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "some.npy")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestJobRefuses tells what cannot be done before anything is done.
func TestJobRefuses(t *testing.T) {
	dir := t.TempDir()
	whole := npyFile(t, npy.Array{DType: "<f8", Shape: []int{5, 6}})
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder.npy")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says []string }{
		{[]string{"-init", "lfk", "-grid", "6x1"}, []string{"-grid 6x1", "divide 5", "divide 99", "lfk"}},
		{[]string{"-init", "lfk", "-block", "2x9"}, []string{"-block 2x9", "divide 5", "lfk"}},
		{[]string{"-init", "lfk", "-grid", "5x9", "-block", "1x10"}, []string{"-block 1x10", "want 1x11", "-grid 5x9", "5x99"}},
		{[]string{"-init", whole, "-grid", "4x4"}, []string{"-grid 4x4", "divide 3", "divide 4", whole}},
		{[]string{"-init", filepath.Join(dir, "none.npy")}, []string{"-init", "none.npy", "no such file"}},
		{[]string{"-init", folder}, []string{"-init", "folder.npy", "directory"}},
		{[]string{"-init", textFile(t, "not an array")}, []string{"-init", "some.npy", "not a .npy file"}},
		{[]string{"-init", textFile(t, string(text[:len(text)-1]))}, []string{"-init", "367 of 368 bytes", "whole file"}},
		{[]string{"-init", npyFile(t, npy.Array{DType: "<f4", Shape: []int{5, 6}})}, []string{"-init", "<f4", "float64"}},
		{[]string{"-init", npyFile(t, npy.Array{DType: "<f8", Shape: []int{5, 6, 1}})}, []string{"-init", "[5 6 1]", "at least 3x3"}},
		{[]string{"-init", npyFile(t, npy.Array{DType: "<f8", Shape: []int{2, 6}})}, []string{"-init", "[2 6]", "at least 3x3"}},
		{[]string{"-init", npyFile(t, npy.Array{DType: "<f8", Shape: []int{5, 6}, Fortran: true})}, []string{"-init", "Fortran"}},
		{[]string{"-grid", "4096x4096", "-block", "1x1"}, []string{"-grid 4096x4096", "at most 65536"}},
		{[]string{"-grid", "2x2", "-block", "1048576x1048576"}, []string{"-block 1048576x1048576", "-grid 2x2", "at most 1073741824"}},
		{[]string{"-sweeps", "8", "-grid", "1x4", "-block", "10x7"}, []string{"-sweeps 8", "at most 7", "-block 10x7"}},
		{[]string{"-sweeps", "8", "-grid", "4x1", "-block", "7x10"}, []string{"-sweeps 8", "at most 7", "-block 7x10"}},
		{[]string{"-out", filepath.Join(dir, "none", "x.npy")}, []string{"-out", "x.npy", "no such file"}},
		{[]string{"-out", folder}, []string{"-out", "folder.npy", "exists"}},
		{[]string{"-trace", filepath.Join(dir, "none", "x.json")}, []string{"-trace", "no such file"}},
		{[]string{"-plot", filepath.Join(dir, "none", "x.png")}, []string{"-plot", "no such file"}},
	} {
		code, stdout, stderr := program(t, c.args...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
			t.Errorf("%v: exit code %d, prints %q and %q, want 2 and one line", c.args, code, stdout, stderr)
		}
		for _, want := range append(c.says, "llk23: ", "llk23 -h") {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: %q does not mention %s", c.args, stderr, want)
			}
		}
	}
}

// TestOutputsOfOneRun writes all files at once.
func TestOutputsOfOneRun(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	code, _, stderr := program(t, "-init", "lfk", "-iters", "5", "-out", at("a.npy"), "-trace", at("b.json"), "-plot", at("c.png"))
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, complains %q", code, stderr)
	}
	for name, begin := range map[string]string{"a.npy": "\x93NUMPY", "b.json": `{"displayTimeUnit"`, "c.png": "\x89PNG"} {
		text, err := os.ReadFile(at(name))
		if err != nil || !bytes.HasPrefix(text, []byte(begin)) {
			t.Errorf("%s begins with %.20q, %v", name, text, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("the folder has %v, %v: want three files", left, err)
	}
}

// TestNothingIsLeftBehind stops a run that was to write a file.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"-out", filepath.Join(dir, "x.npy")}, io.Discard, io.Discard); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the folder has %v, %v: want nothing", left, err)
	}
}

// TestDataOfFile checks that a file is data, border included, and nothing else.
func TestDataOfFile(t *testing.T) {
	m := newMatrix(5, 6)
	for i := range m.cells {
		m.cells[i] = math.Sqrt(float64(i))
	}
	var b bytes.Buffer
	if err := npy.Write(&b, npy.Array{DType: "<f8", Shape: []int{5, 6}}, bytesOf(m.cells)); err != nil {
		t.Fatal(err)
	}
	d, err := openData(textFile(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e := extent{top: 2, left: 3, rows: 2, cols: 2}
	got, err := problem{values: noise, data: d}.newBlock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.rows + 2 {
		for j, v := range got.row(i) {
			if want := m.row(1 + i)[2+j]; v != want {
				t.Errorf("data at (%d,%d) is %v, want %v", i, j, v, want)
			}
		}
	}
	if got, want := got.coefficients(planeZb, 1)[0], noise(planeZb, 2, 3); got != want {
		t.Errorf("a coefficient is %v, want %v", got, want)
	}
}
