//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
		"phoenix":            func() int { return phoenix(true) },
		"knocking":           func() int { return phoenix(false) },
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

// phoenix is a survivor that comes back when it was lost, or only knocks.
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
