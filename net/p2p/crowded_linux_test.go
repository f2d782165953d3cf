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
	"testing/synctest"
	"time"
)

const (
	fewFiles    = 48  // how many files node 0 may have open
	idleSockets = 200 // how many sockets a stranger opens
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
	t.Parallel()
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
// Those that are too many are counted at once, and the log tells.
func TestGarbage(t *testing.T) {
	t.Parallel()
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
}

// TestStrangersAreToldSeldom counts many connections in a moment, and later one more. The log has a
// line for each of the two times.
func TestStrangersAreToldSeldom(t *testing.T) {
	const callers = 200
	synctest.Test(t, func(t *testing.T) {
		counts, log := new(Counts), make(logged, 1000)
		s := strangers{counts: counts, log: slog.New(log)}
		for lines := range 2 {
			for range callers {
				s.note("somewhere")
			}
			if len(log) != lines+1 || counts.Strangers.Load() != uint64(callers*(lines+1)) {
				t.Errorf("%d strangers are counted, and the log has %d lines, want %d", counts.Strangers.Load(), len(log), lines+1)
			}
			time.Sleep(seldom)
		}
	})
}
