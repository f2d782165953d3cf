package p2p

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	fewFiles    = 48  // that node 0 may have open
	idleSockets = 200 // that a stranger opens
)

func init() { actors["crowded"] = crowded }

// crowded is node 0 of two, which may have few files open. It ends when node 1 leaves.
func crowded() int {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: fewFiles, Max: fewFiles}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	left := make(chan struct{})
	n, err := Join(context.Background(), Options{Nodes: 2, Key: testKey, Lease: unhurried, Remote: true,
		Listening: func(a string) { fmt.Println(a) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n.OnLoss(func(int, error) { close(left) })
	<-left
	n.Close(context.Background())
	return 0
}

// TestIdleSockets has a stranger open more sockets than node 0 may have files, and say
// nothing. Node 1 joins all the same.
func TestIdleSockets(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), roleVariable+"=crowded")
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	for range idleSockets {
		s, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	n, err := Join(soon(t), Options{Number: 1, Nodes: 2, Key: testKey, Root: address, Lease: unhurried, Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, n)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestGarbage says something that is not libp2p to node 0, from more sockets than may be pending.
// Those that are too many are counted at once, and the log has one line.
func TestGarbage(t *testing.T) {
	const callers, surely = 200, 10
	counts, log := new(Counts), make(logged, 1000)
	address, _, failed := start(t, 2, func(o *Options) { o.Counts, o.Log, o.JoinTimeout = counts, slog.New(log), patience })
	for range callers {
		s, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(s, "GET / HTTP/1.1\r\n\r\n")
		defer s.Close()
	}
	for counts.Strangers.Load() < surely {
		select {
		case err := <-failed:
			t.Fatalf("%d of %d are counted: %v", counts.Strangers.Load(), callers, err)
		case <-time.After(time.Millisecond):
		}
	}
	log.says(t, "connection from outside the run closed")
	for len(log) > 0 {
		if text := <-log; strings.HasPrefix(text, "connection from outside") {
			t.Errorf("the log has another line: %q", text)
		}
	}
}
