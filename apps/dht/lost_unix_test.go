//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeGoesOn kills a node of three that one launcher has started. The others serve all keys
// but its own, the launcher says once which node was lost, and its exit code tells of it.
func TestServeGoesOn(t *testing.T) {
	for victim := range 3 {
		t.Run(fmt.Sprintf("node %d", victim), func(t *testing.T) {
			t.Parallel()
			goesOn(t, victim)
		})
	}
}

func goesOn(t *testing.T, victim int) {
	const keys = 60
	c := program(t, nil, "serve", "-listen", "127.0.0.1:0", "-nodes", "3")
	log, write := io.Pipe()
	said := &listener{text: []byte("the others go on\n"), heard: make(chan bool)}
	c.Stderr = io.MultiWriter(said, write)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	at := started(t, log, 3)
	for i := range keys {
		if got := say(t, at[i%3], fmt.Sprintf("SET key%d %d", i, i)); got != "+OK" {
			t.Fatalf("before the loss: %q", got)
		}
	}
	if err := syscall.Kill(process(t, at[victim]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-said.heard
	gone, served := fmt.Sprintf("-ERR node %d, which has the key, is lost", victim), 0
	for i := range keys {
		for node := range 3 {
			if node == victim {
				continue
			}
			switch got := say(t, at[node], fmt.Sprintf("INCR key%d", i)); {
			case strings.HasPrefix(got, ":"):
				served++
			case !strings.HasPrefix(got, gone):
				t.Errorf("node %d: key%d: %q", node, i, got)
			}
		}
	}
	if served < keys || served == 2*keys {
		t.Errorf("%d of %d commands were served, want about two thirds", served, 2*keys)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says how it ended
	write.Close()
	if code := c.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, and the others have ended well", code)
	}
	lost := fmt.Sprintf("launch: node %d was ended by a signal: killed; the others go on\n", victim)
	if text := said.String(); strings.Count(text, lost) != 1 {
		t.Errorf("said\n%s", text)
	}
}

// listener is a writer that tells when it has heard a text.
type listener struct {
	bytes.Buffer
	text  []byte
	heard chan bool // closed then
}

func (l *listener) Write(p []byte) (int, error) {
	before := bytes.Contains(l.Bytes(), l.text)
	n, err := l.Buffer.Write(p)
	if !before && bytes.Contains(l.Bytes(), l.text) {
		close(l.heard)
	}
	return n, err
}

// process is the number of the process that serves at addr.
func process(t *testing.T, addr string) int {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, "INFO server\r\n")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "process_id:"); ok {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("%s does not say which process it is", addr)
	return 0
}
