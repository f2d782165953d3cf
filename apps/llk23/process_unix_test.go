//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

// The test binary is also the program, in processes of its own.
const envProgram = "LLK23_TEST_PROGRAM"

// programs are variants of it that tests need, by the value of envProgram. Any other value is the
// program itself.
var programs = map[string]func() int{}

func TestMain(m *testing.M) {
	if p := os.Getenv(envProgram); p != "" {
		if variant := programs[p]; variant != nil {
			os.Exit(variant())
		}
		main()
	}
	os.Setenv("ORWL_LEASE", unhurried.String())
	waitTogether()
	os.Exit(m.Run())
}

// waitTogether lets more tests run at once than there are processors, unless -parallel says how
// many: the parallel tests of this package mostly wait.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "8") // a number
	}
}

func init() { programs["tells"] = tells }

// tells is the program, as a node that says on standard error how far it is.
func tells() int {
	var place launch.Place
	o, err := parse(os.Args[1:])
	if err == nil {
		place, err = o.nodes.Place()
	}
	var j *job
	if err == nil {
		place.Progress = func(p launch.Progress) error {
			_, err := fmt.Fprintln(os.Stderr, p.What, p.Done, p.Total)
			return err
		}
		j, err = newJob(o, place)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return command.Misused
	}
	defer j.close()
	return j.run(context.Background(), os.Stdout, os.Stderr)
}

// complaints is what a node of the program tells says on standard error. It remembers the progress
// among that.
type complaints struct {
	mu      sync.Mutex
	text    bytes.Buffer
	rest    []byte // a line that is not whole
	done    int64
	total   int64
	sweeps  chan struct{} // closed when the node has swept something
	sweeper sync.Once
}

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, p...)
	for {
		line, rest, whole := bytes.Cut(c.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		c.rest = rest
		if !bytes.HasPrefix(line, []byte("sweeping")) {
			c.text.Write(append(line, '\n'))
		} else if n, _ := fmt.Sscanf(string(line), "sweeping %d %d", &c.done, &c.total); n == 2 && c.done > 0 { // in the first life
			c.sweeper.Do(func() { close(c.sweeps) })
		}
	}
}

// said is all but the progress, and how much of it is done.
func (c *complaints) said() (text string, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.done, c.total
}

// TestProcesses runs the program on several nodes that it starts itself. Node 0 prints what the
// program alone would print. The last frontiers go to the blocks before, too: see shipped.
func TestProcesses(t *testing.T) {
	t.Setenv(envProgram, "1")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tasks := range []string{"fused", "9"} {
		args := strings.Fields("-init noise -grid 3x1 -block 11x17 -iters 10 -json -tasks " + tasks)
		args = append(args, "-nodes", "3", "-out", at("a.npy"), "-trace", at("b.json"), "-plot", at("c.png"))
		code, stdout, stderr := program(t, args...)
		if code != 0 || stderr != "" {
			t.Fatalf("exit code %d, complains %q", code, stderr)
		}
		var got report
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
		if got.Nodes != 3 || !got.Verified || got.BytesShipped != 8*17*(4*10+2) || got.SHA256 != "4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648" {
			t.Errorf("-tasks %s: %+v", tasks, got)
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
	code, stdout, stderr := program(t, "-grid", "3x1", "-block", "11x17", "-iters", "10", "-nodes", "2", "-plot", at("d.gif"))
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Verified, every bit. ") || strings.Contains(stdout, "[") || strings.Count(stdout, "Verified") != 1 {
		t.Errorf("exit code %d, complains %q, prints\n%s", code, stderr, stdout)
	}
	if film, err := os.ReadFile(at("d.gif")); err != nil || !bytes.HasPrefix(film, []byte("GIF89a")) {
		t.Errorf("the film begins with %.20q, %v", film, err)
	}
}

// TestWhyOnNodes asks for the placement of a run on two nodes: node 0 tells it once. Node 1
// has the last two rows of blocks.
func TestWhyOnNodes(t *testing.T) {
	t.Setenv(envProgram, "1")
	code, stdout, stderr := program(t, "-grid", "4x1", "-block", "11x17", "-iters", "10", "-nodes", "2", "-why")
	if code != 0 || !strings.HasPrefix(stdout, "Verified, every bit. ") {
		t.Fatalf("exit code %d, complains %q, prints\n%s", code, stderr, stdout)
	}
	if strings.Count(stderr, "on 2 nodes, as node 0 knows it") != 1 || strings.Contains(stderr, "as node 1") {
		t.Errorf("want one placement, by node 0:\n%s", stderr)
	}
	lines := strings.Split(stderr, "\n")
	for _, want := range []string{`block 1,0 0 \d+ - On`, `block 2,0 1 - - On`, `block 1,0 to 1,0 0 136 Home`} {
		line := regexp.MustCompile("^" + want + "$")
		if !slices.ContainsFunc(lines, func(l string) bool { return line.MatchString(strings.Join(strings.Fields(l), " ")) }) {
			t.Errorf("no line %q in\n%s", want, stderr)
		}
	}
}

// TestNodesRefused asks for nodes that cannot be, before any is started.
func TestNodesRefused(t *testing.T) {
	t.Setenv(envProgram, "none is started")
	for _, c := range []struct {
		env, args string
		says      []string
	}{
		{"", "-nodes 0", []string{`"0"`, "-nodes", "1 to 4096"}},
		{"", "-nodes 4097", []string{"-nodes", "1 to 4096"}},
		{"", "-nodes 5 -grid 2x2", []string{"-nodes 5", "at most 4 nodes", "2x2"}},
		{"", "-nodes 2 -out /nosuch/x.npy", []string{"-out /nosuch/x.npy"}},
		{"ORWL_NODE=1 ORWL_PEERS=a:1,b:2", "-nodes 3", []string{"-nodes is 3", "want 2", "node 1 of 2"}},
		{"ORWL_NODE=1 ORWL_PEERS=a:1,b:2", "-nodes 1", []string{"-nodes is 1", "want 2"}},
		{"ORWL_NODE=1 ORWL_PEERS=a:1,b:2", "-grid 1x1", []string{"environment 2", "at most 1 nodes", "1x1"}},
		{"ORWL_NODE=1", "", []string{"ORWL_NODE", "ORWL_NODES"}},
		{"", "-nodes 1 -ssh a,b", []string{"-nodes is 1", "at least 2", "-ssh"}},
		{"", "-ssh a,-oX", []string{"-ssh", "no name of a host"}},
		{"", "-grid 1x1 -ssh a,b", []string{"-nodes 2", "at most 1 nodes"}},
		{"ORWL_NODE=1 ORWL_PEERS=a:1,b:2", "-ssh a,b", []string{"-ssh", "want none", "node 1 of 2"}},
		{"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NODELIST=a,b SLURM_JOB_ID=7 SLURM_STEP_ID=0", "-nodes 4", []string{"-nodes is 4", "want 2", "slurm"}},
	} {
		t.Run(c.env+" "+c.args, func(t *testing.T) {
			for pair := range strings.FieldsSeq(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			code, stdout, stderr := program(t, strings.Fields(c.args)...)
			if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, prints %q and %q, want 2 and one line", code, stdout, stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q does not mention %q", stderr, want)
				}
			}
		})
	}
}

// BenchmarkNodes is the program on two nodes of this machine beside the program alone,
// in turn: how many times as long the sweeps take with the same processors.
func BenchmarkNodes(b *testing.B) {
	b.Setenv(envProgram, "1")
	for kernel := range kernels {
		b.Run(kernel, func(b *testing.B) {
			took := func(nodes string) report {
				stdout, err := exec.Command(os.Args[0], "-grid", "4x4", "-block", "1000x1000", "-iters", "20", "-kernel", kernel,
					"-verify=false", "-json", "-nodes", nodes).Output()
				var r report
				if err == nil {
					err = json.Unmarshal(stdout, &r)
				}
				if err != nil {
					b.Fatal(err)
				}
				return r
			}
			var alone, two []float64
			for b.Loop() {
				alone = append(alone, took("1").NsPerElement)
				two = append(two, took("2").NsPerElement)
			}
			slices.Sort(alone)
			slices.Sort(two)
			b.ReportMetric(alone[len(alone)/2], "ns/element-alone")
			b.ReportMetric(two[len(two)/2], "ns/element-2-nodes")
			b.ReportMetric(two[len(two)/2]/alone[len(alone)/2], "2-nodes/alone")
			b.ReportMetric(two[0]/alone[0], "best-2-nodes/best-alone")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Two nodes have the sequential result, however they carry bytes.
func TestCarriers(t *testing.T) {
	for _, carrier := range []string{"private", "quic"} {
		cmd := exec.Command(os.Args[0], strings.Fields("-grid 2x2 -block 16x16 -iters 20 -json -nodes 2")...)
		cmd.Env = append(os.Environ(), envProgram+"=1", "ORWL_CARRIER="+carrier)
		out, err := cmd.Output()
		var got report
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil || !got.Verified || got.Nodes != 2 {
			t.Errorf("%s: %v, %s", carrier, err, out)
		}
	}
}
