//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/rings"
)

// endVariable says which node sends itself which signal, and when, for the program mortal: SEAT SIGNAL NUMBER WHAT. It does so when
// it calls its kernel for the time of that number, to sweep its blocks or to verify the result. If WHAT is cut, SEAT is a folder, and each node
// does so when a cut is there.
const endVariable = "LLK23_TEST_END"

func init() { programs["mortal"] = mortal }

// mortal is the program with a kernel that ends one node.
func mortal() int {
	var seat, what string
	var number, signal int
	if _, err := fmt.Sscan(os.Getenv(endVariable), &seat, &signal, &number, &what); err != nil {
		panic(err)
	}
	switch k := kernels["listing"]; {
	case what == "cut":
		sweep := k.sweep
		k.sweep = func(b *block, from, to int) {
			if cuts, _ := filepath.Glob(filepath.Join(seat, "*.cut")); len(cuts) > 0 { // the pattern is right
				_ = syscall.Kill(os.Getpid(), syscall.Signal(signal))
			}
			<-time.After(time.Millisecond) // the cut comes before the end
			sweep(b, from, to)
		}
		kernels["listing"] = k
	case seat == os.Getenv("ORWL_NODE"):
		sweep := k.sweep
		var calls atomic.Int64
		k.sweep = func(b *block, from, to int) {
			if verifies := b.rows == lifeRows; verifies == (what == "verify") && calls.Add(1) == int64(number) {
				_ = syscall.Kill(os.Getpid(), syscall.Signal(signal)) // to this process it works
			}
			sweep(b, from, to)
		}
		kernels["listing"] = k
	}
	main()
	return 0
}

// lifeArgs is a problem that the program mortal solves on three nodes. It has so many rows. Each node has two blocks of one to three pieces,
// and so calls its kernel 600 to 1800 times.
var lifeArgs = strings.Fields("-grid 6x1 -block 50x200 -sweeps 1 -json -iters 300")

const lifeRows = 300

// ends are how a node of three ends, and what the result says of it.
var ends = []struct{ signal, says string }{
	{"0 9 200 sweep", "node 0 was lost"},
	{"1 9 200 sweep", "node 1 was lost"},
	{"1 15 200 sweep", "node 1 has left"},
	{"0 9 1 verify", "node 0 was lost"},
}

// lifeSHA256 is of the result.
const lifeSHA256 = "2c684dc52cdb418354fdbda2d58f943688cfd8fc3009798dca4c61e6a379f697"

// outlived checks that all nodes of a run together have printed one result, and the right one.
func outlived(t *testing.T, printed []byte, says string) {
	t.Helper()
	var got report
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	if !got.Verified || got.SHA256 != lifeSHA256 || got.Nodes != 2 || got.Lives < 2 || len(got.News) != 1 || got.News[0] != says {
		t.Errorf("want a verified result of 2 nodes after 2 lives or more, and %q: %s", says, printed)
	}
}

// TestOutlives ends a node of three in the middle of a run. The others finish it, and one of them prints the result.
func TestOutlives(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, e := range ends {
		t.Run(e.signal, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			args := append(slices.Clone(lifeArgs), "-nodes", "3", "-out", at("a.npy"), "-trace", at("b.json"), "-plot", at("c.gif"))
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			cmd.Env = append(os.Environ(), envProgram+"=mortal", endVariable+"="+e.signal)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || !strings.Contains(errs.String(), "the run goes on") {
				t.Fatalf("%v: %s", err, errs.String())
			}
			outlived(t, out.Bytes(), e.says)
			for name, begin := range map[string]string{"a.npy": "\x93NUMPY", "b.json": `{"displayTimeUnit"`, "c.gif": "GIF89a"} {
				text, err := os.ReadFile(at(name))
				if err != nil || !bytes.HasPrefix(text, []byte(begin)) {
					t.Errorf("%s begins with %.20q, %v", name, text, err)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
				t.Errorf("the folder has %v, %v: want three files", left, err)
			}
		})
	}
}

// TestOutlivesAlone does the same without a launcher.
func TestOutlivesAlone(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, e := range ends[:2] {
		t.Run(e.signal, func(t *testing.T) {
			t.Parallel()
			peers := strings.Join(freeport.Addresses(t, 3), ",")
			var cmds [3]*exec.Cmd
			var out, errs [3]bytes.Buffer
			for i := range cmds {
				cmds[i] = exec.CommandContext(t.Context(), os.Args[0], lifeArgs...)
				cmds[i].Env = append(os.Environ(), envProgram+"=mortal", endVariable+"="+e.signal, fmt.Sprintf("ORWL_NODE=%d", i), "ORWL_PEERS="+peers)
				cmds[i].Stdout, cmds[i].Stderr = &out[i], &errs[i]
				if err := cmds[i].Start(); err != nil {
					t.Fatal(err)
				}
			}
			var all []byte
			for i, cmd := range cmds {
				err := cmd.Wait()
				killed := strings.HasPrefix(e.signal, fmt.Sprint(i, " 9 "))
				if killed != (err != nil) {
					t.Errorf("node %d: %v: %s", i, err, errs[i].String())
				}
				all = append(all, out[i].Bytes()...)
			}
			if !t.Failed() {
				outlived(t, all, e.says)
			}
		})
	}
}

// TestGoesOn ends the only process when a cut is on disk. The same command goes on from there.
func TestGoesOn(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	dir := t.TempDir()
	args := append(slices.Clone(lifeArgs), "-survive", dir)
	run := func(program ...string) (out, errs bytes.Buffer, err error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), program...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		return out, errs, err
	}
	if out, errs, err := run(envProgram+"=mortal", endVariable+"="+dir+" 9 0 cut"); err == nil {
		t.Fatalf("it was not killed: %s%s", out.String(), errs.String())
	}
	out, errs, err := run(envProgram + "=1")
	if err != nil || !strings.Contains(errs.String(), "the run goes on from its folder") {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || !got.Verified || got.SHA256 != lifeSHA256 {
		t.Errorf("want a verified result: %s, %v", out.String(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.cut")); err != nil || len(left) > 0 {
		t.Errorf("the folder still has %v, %v", left, err)
	}
}

// TestMinorityEnds stops two of three nodes. The third one cannot know whether they go on without it, and ends.
func TestMinorityEnds(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	peers := strings.Join(freeport.Addresses(t, 3), ",")
	var cmds [3]*exec.Cmd
	var says [3]complaints
	for i := range cmds {
		cmds[i] = exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-grid 3x3 -block 20x20 -iters 1000000000 -verify=false")...)
		cmds[i].Env = append(os.Environ(), envProgram+"=tells", fmt.Sprintf("ORWL_NODE=%d", i), "ORWL_PEERS="+peers, "ORWL_LEASE=2s")
		says[i].sweeps = make(chan struct{})
		cmds[i].Stdout, cmds[i].Stderr = &says[i], &says[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range says {
		<-says[i].sweeps
	}
	for _, cmd := range cmds[:2] {
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmds[2].Wait() // the exit code says it
	text, _, _ := says[2].said()
	if code := cmds[2].ProcessState.ExitCode(); code != 1 || !strings.Contains(text, "llk23: ") || !strings.Contains(text, "this node is apart from its run") {
		t.Errorf("exit code %d, says %s", code, text)
	}
	for _, cmd := range cmds[:2] {
		_ = cmd.Process.Kill() // it has not ended
		_ = cmd.Wait()
	}
}
