//go:build unix

package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/terminal"
)

// The test binary is also every node of a test: it finds its role in its environment.
const (
	envRole = "LAUNCH_TEST_ROLE"
	envFIFO = "LAUNCH_TEST_FIFO"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		os.Exit(roles[role]())
	}
	os.Exit(m.Run())
}

// roles are what a node does. Each returns its exit code.
var roles map[string]func() int

func init() {
	roles = map[string]func() int{
		"talk":               talk,
		"fail":               fail,
		"wait":               func() int { attend(); select {} },
		"stubborn":           func() int { signal.Ignore(syscall.SIGTERM); attend(); select {} },
		"deaf":               deaf,
		"polite":             polite,
		"survivor":           survivor,
		"last words":         lastWords,
		"phoenix":            func() int { return phoenix(true) },
		"asking":             func() int { return phoenix(false) },
		"hopeless":           hopeless,
		"stopped":            func() int { syscall.Kill(os.Getpid(), syscall.SIGSTOP); return 0 },
		"silent":             func() int { return 0 },
		"dumb":               func() int { return 3 },
		"mistaken":           mistaken,
		"parent":             func() int { return outcome(Spawn(never, waiting("wait"))) },
		"parent of stubborn": func() int { return outcome(Spawn(never, waiting("stubborn"))) },
		"grand":              func() int { return outcome(Spawn(never, waiting("wrap"))) },
		"wrap":               wrap,
		"self":               self,
		"progressing":        progressing,
		"seen":               seen,
	}
}

// attend is where a node finds out its place, and node 0 says where it listens. It
// says so on its output, and in the FIFO if there is one, which stays open while this
// process lives.
func attend() Place {
	p, err := FromEnvironment()
	if err == nil && p.Report != nil {
		err = p.Report(strings.TrimSuffix(p.Listen, "0") + "4321")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if name := os.Getenv(envFIFO); name != "" {
		fifo, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		held = fifo
		fmt.Fprintln(fifo, "ready")
	}
	fmt.Println("ready", os.Getpid())
	return p
}

// held keeps a file from being collected, and closed.
var held *os.File

// talk says what a node knows, and writes many lines to two streams at once, in
// pieces, and a last one without an end.
func talk() int {
	p := attend()
	_, again := FromEnvironment()
	public := strings.Join(append(os.Environ(), os.Args...), "\n")
	fmt.Printf("place %v key %s leaks %t again %v", p, p.Key, strings.Contains(public, string(p.Key)), again)
	if p.How == SSH {
		fmt.Printf(" lease %v folder %s lives %s arguments %q secret %q", p.Lease, os.Getenv("ORWL_SURVIVE"), os.Getenv("ORWL_LIVES"), os.Args[1:], os.Getenv("SECRET"))
	}
	fmt.Println()
	written := make(chan bool)
	for _, to := range []*os.File{os.Stdout, os.Stderr} {
		go func() {
			for i := range talkLines {
				to.WriteString("line ")
				to.WriteString(strconv.Itoa(i) + " of ")
				to.WriteString(strconv.Itoa(p.Node) + "\nli")
				to.WriteString("ne\n")
			}
			to.WriteString("the end")
			written <- true
		}()
	}
	<-written
	<-written
	return 0
}

const talkLines = 200

// fail is a node that fails if it is number 2.
func fail() int {
	if attend().Node == 2 {
		return 3
	}
	select {}
}

// polite ends well when it is interrupted.
func polite() int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	attend()
	<-interrupts
	fmt.Println("interrupted")
	return 0
}

// survivor is polite, in a run that goes on without nodes that are lost.
func survivor() int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	p, err := FromEnvironment()
	if err == nil && p.GoOn != nil {
		err = errors.Join(p.Report("127.0.0.1:4321"), p.GoOn(), p.GoOn())
	}
	fmt.Println("ready", os.Getpid())
	<-interrupts
	fmt.Println("interrupted")
	return outcome(err)
}

// lastWords says that the run goes on, and fails at once. The others wait until they are interrupted.
func lastWords() int {
	p, err := FromEnvironment()
	if err == nil && p.Node != 1 {
		return survivorWithout(p)
	}
	if err == nil {
		err = p.GoOn()
	}
	return outcome(errors.Join(err, errLastWords))
}

var errLastWords = errors.New("these were the last words")

// survivorWithout is a survivor that does not say that the run goes on.
func survivorWithout(p Place) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	err := p.Report("127.0.0.1:4321")
	fmt.Println("ready", os.Getpid())
	<-interrupts
	return outcome(err)
}

// phoenix is a survivor that comes back when it was lost, or only asks.
func phoenix(comes bool) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT)
	p, err := FromEnvironment()
	if err == nil {
		host, _, _ := strings.Cut(p.Listen, ":")
		err = p.Report(fmt.Sprintf("%s:%d", host, 4321+p.Node))
	}
	if p.Late {
		fmt.Println("place", p)
	}
	if err == nil && (comes || !p.Late) {
		err = p.GoOn()
	}
	fmt.Println("ready", os.Getpid())
	<-interrupts
	return outcome(err)
}

// hopeless fails when it comes back.
func hopeless() int {
	if os.Getenv(envLate) != "" {
		return 7
	}
	return phoenix(false)
}

// deaf does not read its lifeline, as if its host had stopped to answer.
func deaf() int {
	os.Setenv(envLifeline, "")
	if os.Getenv(envReport) != "" {
		fmt.Fprint(os.Stderr, mark+"127.0.0.1:4321\n")
	}
	fmt.Println("ready", os.Getpid())
	select {}
}

// mistaken is a node 0 that reports what is no address, and then twice.
func mistaken() int {
	p, err := FromEnvironment()
	if err != nil || p.Node != 0 {
		fmt.Println(p.Root)
		return outcome(err)
	}
	fmt.Println(p.Report("nowhere"))
	fmt.Println(p.Report("0.0.0.0:4321"), p.Report("0.0.0.0:4321"))
	return 0
}

// wrap starts a node that is not its own, as a script does, and hands it what it has
// inherited.
func wrap() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"=wait")
	cmd.ExtraFiles = []*os.File{os.NewFile(lifelineFD, "lifeline")}
	if os.Getenv(envReport) != "" {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(reportFD, "report"))
	}
	return outcome(cmd.Run())
}

// self is a program with a flag -nodes. Its node 2 fails.
func self() int {
	if ended, code := Self(3); ended {
		return code
	}
	p := attend()
	fmt.Println("place", p.Node, p.Nodes, p.How)
	if p.Node == 2 {
		return 5
	}
	select {}
}

func outcome(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// The batch script gives its tasks a key of their own that no other user can read, and removes
// it afterwards. A fake srun looks at the key.
func TestSlurmFile(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("batch scripts of Slurm need bash: ", err)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "deploy", "slurm.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte("#!/bin/sh\necho \"$@\"\nls -l \"$ORWL_KEY_FILE\" | cut -c1-10\ncat \"$ORWL_KEY_FILE\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(soon(t), bash, script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_SUBMIT_DIR="+dir, "SLURM_JOB_ID=4711")
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want srun's, 3", code)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) != 3 || lines[0] != "--kill-on-bad-exit=1 ./prog" || lines[1] != "-rw-------" || len(lines[2]) != 64 {
		t.Errorf("srun sees %q", lines)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".orwl*")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// seen says whether a person sees what the node writes on standard error.
func seen() int {
	attend()
	fmt.Println("seen", terminal.IsSeen(os.Stderr))
	return 0
}

// Nodes learn whether a person sees their lines, here and over ssh. The answer of the launcher's own
// launcher does not count: the lines go to another place.
func TestSeen(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	fakeSSH(t)
	for name, run := range map[string]func(string) Run{"here": of, "over ssh": elsewhere} {
		if name == "here" {
			t.Setenv(terminal.Variable, "1")
		} else {
			t.Setenv(terminal.Variable, "") // ssh takes no variables along
		}
		for to, want := range map[io.Writer]string{tty: "seen true", io.Discard: "seen false"} {
			var out strings.Builder
			r := run("seen")
			r.Stdout, r.Stderr = &out, to
			if err := Spawn(soon(t), r); err != nil || strings.Count(out.String(), want) != r.Nodes {
				t.Errorf("%s, standard error is %T: %v, want %s of each:\n%s", name, to, err, want, out.String())
			}
		}
	}
}

var errEnough = errors.New("enough")

// progressing says how far it is, until it is asked to end.
func progressing() int {
	p := attend()
	if p.Progress == nil {
		return 0
	}
	for i := range int64(3) {
		if err := p.Progress(Progress{What: "the work", Done: i * int64(p.Node+1), Total: 100}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	select {} // until it is asked to end
}

// Nodes tell how far they are, here and over ssh.
func TestProgress(t *testing.T) {
	for name, run := range map[string]func() Run{"here": func() Run { return of("progressing") }, "over ssh": func() Run { return elsewhere("progressing") }} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			fakeSSH(t)
			r, last := run(), make(map[int]int64)
			ctx, stop := context.WithCancelCause(soon(t))
			defer stop(nil)
			r.Progress = func(node int, p Progress) {
				if p.What != "the work" || p.Total != 100 || p.Done%int64(node+1) != 0 || p.Done < last[node] {
					t.Errorf("node %d says %+v after %d", node, p, last[node])
				}
				last[node] = p.Done
				if last[0] == 2 && last[1] == 4 && last[2] == 6 {
					stop(errEnough)
				}
			}
			if err := Spawn(ctx, r); err != errEnough {
				t.Errorf("the run ends with %v, and nodes have said %v", err, last)
			}
		})
	}
}

// Nodes that are not asked have nothing to tell.
func TestNoProgress(t *testing.T) {
	if err := Spawn(soon(t), of("progressing")); err != nil {
		t.Error(err)
	}
}

func TestNewKey(t *testing.T) {
	a, b := NewKey(), NewKey()
	if len(a) != 64 || bytes.Equal(a, b) || strings.Trim(string(a), "0123456789abcdef") != "" {
		t.Errorf("%q, %q", a, b)
	}
}

// Only its owner may read or change a key's file.
func TestKeyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envKeyFile, name)
	for mode, private := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o700: true,
		0o644: false, 0o604: false, 0o602: false, 0o601: false, 0o660: false, 0o666: false,
	} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		p, err := FromEnvironment()
		switch {
		case private && (err != nil || string(p.Key) != testKey):
			t.Errorf("mode %04o: %q, %v", mode, p.Key, err)
		case !private && (!errors.Is(err, ErrEnvironment) || !strings.Contains(err.Error(), "chmod 600")):
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// A key's file may be a link, as Kubernetes has it, and must not be endless.
func TestOddKeyFiles(t *testing.T) {
	dir := t.TempDir()
	long, link := filepath.Join(dir, "long"), filepath.Join(dir, "link")
	if err := os.WriteFile(long, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(long, link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		long: "too long", link: "too long", dir: "it is a folder", filepath.Join(dir, "nosuch"): "no such file",
	} {
		t.Setenv(envKeyFile, name)
		if _, err := FromEnvironment(); !errors.Is(err, ErrEnvironment) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
