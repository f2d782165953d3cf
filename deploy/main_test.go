//go:build linux

package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var installed = flag.Bool("real", false, "start runs by what is installed: sshd, Slurm, Open MPI, MPICH")

// programs is the folder of llk23, dht and orwl.
var programs string

// saysVersion is how the linker is told the version, in an image that has no .git.
const saysVersion = "-X github.com/orwl/go-orwl/internal/command.built="

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withPrograms(m))
}

// withPrograms builds the programs as they are built for a container, if tests start some.
func withPrograms(m *testing.M) int {
	if !*installed {
		return m.Run()
	}
	var err error
	if programs, err = os.MkdirTemp("", "orwl-programs"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags="+saysVersion+"v0.0.1", "-o", programs, "../apps/llk23", "../apps/dht", "../cmd/orwl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	if err := os.Chmod(programs, 0o755); err != nil { // tests also run them as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// need skips a test unless -real is given. Then what is not installed is an error.
func need(t *testing.T, tools ...string) {
	t.Helper()
	if !*installed {
		t.Skip("starts processes, by what is installed: go test ./deploy -real, as CI does")
	}
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // daemons are there
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v: .ci/install names the package", err)
		}
	}
}

// patience ends what hangs. No test depends on it.
const patience = time.Minute

// command is a process of a test, which ends with it.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = patience                         // a process that is left behind may have the output open for a while
	c.Env = append(os.Environ(), "ORWL_LEASE=10s") // no test is about a slow node
	return c
}

// daemon runs until the test ends. It is asked to end then, and killed if it does not.
func daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name) // sshd wants all of it
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		_ = c.Wait() // it was asked to end
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if t.Failed() {
			t.Logf("%s says\n%s", name, said.String())
		}
	})
}

// until waits for something to be true.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	enough := time.After(patience)
	for !is() {
		select {
		case <-again.C:
		case <-enough:
			t.Fatalf("it never came true: %s", what)
		}
	}
}

// write makes a file of the test.
func write(t *testing.T, mode os.FileMode, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// llk23 is a short run of it, by a launcher if there are words before.
func llk23(words ...string) []string {
	return append(words, filepath.Join(programs, "llk23"), "-grid", "4x4", "-block", "50x50", "-iters", "20", "-json")
}

// endless is a run that only a signal ends.
func endless(words ...string) []string {
	return append(words, filepath.Join(programs, "llk23"), "-grid", "4x4", "-block", "20x20", "-iters", "1000000000", "-verify=false")
}

// solved checks what a short run prints. It must be one report: nodes that had not met would
// print one each.
func solved(t *testing.T, nodes int, stdout []byte) {
	t.Helper()
	var report struct {
		Nodes    int
		Verified bool
		Shipped  int `json:"bytes_shipped"`
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if report.Nodes != nodes || !report.Verified || report.Shipped == 0 {
		t.Errorf("%+v, want %d nodes, verified, and bytes shipped", report, nodes)
	}
}

// output is what a command prints, if it ends well.
func output(t *testing.T, c *exec.Cmd) []byte {
	t.Helper()
	out, err := c.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %v\n%s%s", c.Args, err, out, exit.Stderr)
		}
		t.Fatal(err)
	}
	return out
}

// processes are those that run a program of ours.
func processes(t *testing.T, program string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if path, err := os.Readlink(link); err != nil || path != filepath.Join(programs, program) {
			continue // or it has ended
		}
		var pid int
		if _, err := fmt.Sscanf(link, "/proc/%d/exe", &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// began starts an endless run of two nodes, and returns their processes. Launchers of ours are a
// process of the same program, and are none of them.
func began(t *testing.T, c *exec.Cmd) (nodes []int) {
	t.Helper()
	said := new(heard)
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v says\n%s", c.Args, said)
		}
	})
	until(t, "the run sweeps", func() bool { return strings.Contains(said.String(), "sweeping") })
	for _, pid := range processes(t, "llk23") {
		if pid != c.Process.Pid {
			nodes = append(nodes, pid)
		}
	}
	if len(nodes) != 2 {
		t.Fatalf("there are %d nodes, want 2", len(nodes))
	}
	return nodes
}

// gone waits until no process of a run is left.
func gone(t *testing.T, program string) {
	t.Helper()
	until(t, "no process is left", func() bool { return len(processes(t, program)) == 0 })
}
