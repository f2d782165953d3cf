package locks_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// A hand is another process that obeys orders, one after the other, until it is killed or
// the test lets it go. A test with many fabrics thus starts few processes.
type hand struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// order is a duty in a fabric.
type order struct {
	Duty    string
	Machine string
	Path    string          // of the fabric
	After   time.Duration   // how long to wait before opening it
	What    json.RawMessage // the input of the duty
}

// answer is what a process says of an order.
type answer struct {
	Err  string
	Said json.RawMessage
}

// duties are what a hand can do. Each stands beside the test that uses it.
var duties = map[string]func(f *shm.Fabric, what json.RawMessage) (said any, err error){
	"killed":  killedDuty,
	"stress":  stressDuty,
	"survive": surviveDuty,
}

// crewTask is the task of a process that is a hand.
const crewTask = "crew"

// newHand starts a process.
func newHand() (*hand, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hand{cmd: exec.Command(self)}
	h.cmd.Env = append(os.Environ(), envTask+"="+crewTask, "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	h.cmd.Stderr = os.Stderr
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	h.out = bufio.NewReader(out)
	return h, h.cmd.Start()
}

// newHands starts n processes, which end with the test.
func newHands(t *testing.T, n int) []*hand {
	t.Helper()
	crew := make([]*hand, n)
	t.Cleanup(func() {
		for _, h := range crew {
			if h != nil {
				h.kill()
			}
		}
	})
	for i := range crew {
		var err error
		if crew[i], err = newHand(); err != nil {
			t.Fatal(err)
		}
	}
	return crew
}

// kill ends the process as the system would if memory ran out.
func (h *hand) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// order tells the process what to do in a fabric.
func (h *hand) order(f *shm.Fabric, duty string, after time.Duration, what any) error {
	about, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return json.NewEncoder(h.in).Encode(order{Duty: duty, Machine: f.Topology().String(), Path: f.Path(), After: after, What: about})
}

// answer waits until the process has done what it was told.
func (h *hand) answer(said any) error {
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("a process of the crew ended: %w", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return fmt.Errorf("a process of the crew says %q: %w", line, err)
	}
	if a.Err != "" {
		return errors.New(a.Err)
	}
	return json.Unmarshal(a.Said, said)
}

// obey is the life of a hand.
func obey() error {
	orders := json.NewDecoder(os.Stdin)
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var a answer
		said, err := o.obey()
		if err == nil {
			a.Said, err = json.Marshal(said)
		}
		if err != nil {
			a.Err = err.Error()
		}
		if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
			return err
		}
	}
}

func (o order) obey() (said any, err error) {
	tree, err := topology.Parse(o.Machine)
	if err != nil {
		return nil, err
	}
	<-time.After(o.After)
	file, err := os.OpenFile(o.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := shm.Open(file, shm.Options{Topology: tree, Survive: o.Duty == "survive"})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return duties[o.Duty](f, o.What)
}
