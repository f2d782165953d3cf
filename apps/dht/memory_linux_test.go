package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/internal/rings"
)

// TestMemory fills servers far beyond -memory with values of 1 MB, by several clients with deep pipelines at
// once, in a control group of the size that compose.yaml gives a node. No server is killed, each says OOM, and
// resident memory stays below -memory and what the page of the table says. It is near the start again after FLUSHALL.
func TestMemory(t *testing.T) {
	rings.Needs(t, rings.Change)
	if rings.Race {
		t.Skip("the race detector takes several times the memory, of which the limit knows nothing")
	}
	mebibytes, limit := shipped(t)
	for _, c := range []struct {
		mebibytes, limit int
		args             []string
	}{
		{64, 64*mebi + 2*budget.Beside, nil},
		{256, 256*mebi + 2*budget.Beside, nil},
		{mebibytes, limit, nil},
		{256, 256*mebi + 2*budget.Beside, []string{"-bulk", "33554432"}},
		{128, 2*(128*mebi+budget.Beside+budget.Between) + budget.Beside, []string{"-nodes", "2"}}, // and the program that starts them
	} {
		t.Run(strings.Join(append([]string{fmt.Sprint(c.mebibytes)}, c.args...), " "), func(t *testing.T) {
			s := confined(t, c.limit, append([]string{"-memory", fmt.Sprint(c.mebibytes)}, c.args...)...)
			start := s.status("VmRSS")
			nodes := slices.Contains(c.args, "-nodes")
			if nodes {
				s.flood(2*c.mebibytes, 1_000_000)
			} else {
				s.flood(c.mebibytes, 1_000_000)
			}
			s.drink(min(12, c.mebibytes/32))
			if slices.Contains(c.args, "-bulk") {
				if got := say(t, s.addr, "FLUSHALL"); got != "+OK" {
					t.Fatalf("FLUSHALL: %q", got)
				}
				s.flood(c.mebibytes, 20_000_000)
				s.drink(0)
			}
			if got := say(t, s.addr, "FLUSHALL"); got != "+OK" {
				t.Fatalf("FLUSHALL: %q", got)
			}
			peak, after := s.status("VmHWM"), s.status("VmRSS")
			t.Logf("-memory %d: at first %d MiB, at most %d, after FLUSHALL %d; the group of %d MiB had %d",
				c.mebibytes, start/mebi, peak/mebi, after/mebi, c.limit/mebi, s.group.peak()/mebi)
			most, rest := c.mebibytes*mebi+budget.Beside, start+budget.Beside/2
			if nodes {
				most, rest = most+budget.Between, rest+budget.Between/4
			}
			if peak > most {
				t.Errorf("%d bytes were resident, want at most %d", peak, most)
			}
			if after > rest {
				t.Errorf("%d bytes are resident after FLUSHALL, and %d were at first", after, start)
			}
		})
	}
}

// shipped are -memory, in MiB, and the limit of a container, in bytes, as compose.yaml has them.
func shipped(t *testing.T) (mebibytes, limit int) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	number := func(expression string) int {
		found := regexp.MustCompile(expression).FindSubmatch(text)
		if found == nil {
			t.Fatalf("compose.yaml has no %s", expression)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return number(`-memory, "([0-9]+)"`), number(`mem_limit: ([0-9]+)m\b`) * mebi
}

// confinement is a server in a control group.
type confinement struct {
	*testing.T
	group memoryGroup
	pid   int
	addr  string
}

// confined starts a server in a control group of so many bytes.
func confined(t *testing.T, limit int, args ...string) *confinement {
	t.Helper()
	g, err := newMemoryGroup(limit)
	if err != nil {
		t.Skipf("no control group of memory can be made here: %v", err)
	}
	t.Cleanup(g.remove)
	c := program(t, nil, append([]string{"serve", "-listen", "127.0.0.1:0"}, args...)...)
	// A shell goes in first, so that the group has all of the server's memory.
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c.Args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, string(g.path), c.Path}, c.Args[1:]...)
	c.Path = shell
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	nodes := 1
	if slices.Contains(args, "-nodes") {
		nodes = 2
	}
	return &confinement{t, g, c.Process.Pid, started(t, log, nodes)[0]}
}

// status is a number of the server's /proc/PID/status, in bytes: the largest of its nodes, if it has started some.
func (s *confinement) status(name string) (most int) {
	s.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	var pids []string
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // the thread may end
		pids = append(pids, strings.Fields(string(children))...)
	}
	if len(pids) == 0 {
		pids = []string{fmt.Sprint(s.pid)}
	}
	for _, pid := range pids {
		most = max(most, s.statusOf(pid, name))
	}
	return most
}

func (s *confinement) statusOf(pid, name string) int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/status", pid))
	if err != nil {
		s.Fatalf("the server is gone: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name+":" {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				s.Fatal(err)
			}
			return kib << 10
		}
	}
	s.Fatalf("no %s in the status of the server", name)
	return 0
}

// flood sends twice as many bytes of values as all nodes together may have, by 12 clients with pipelines of 16.
func (s *confinement) flood(mebibytes, size int) {
	s.Helper()
	const clients, depth = 12, 16
	rounds := max(1, 2*mebibytes*mebi/(clients*depth*size))
	var stored, refused atomic.Int64
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			link, err := net.Dial("tcp", s.addr)
			if err != nil {
				s.Error(err)
				return
			}
			defer link.Close()
			link.SetDeadline(time.Now().Add(patience))
			value := bytes.Repeat([]byte{byte('a' + client)}, size)
			replies := bufio.NewReader(link)
			for round := range rounds {
				go func() {
					for i := range depth {
						key := fmt.Sprintf("%d/%d/%d", client, round, i)
						pieces := net.Buffers{fmt.Appendf(nil, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n", len(key), key, size), value, []byte("\r\n")}
						if _, err := pieces.WriteTo(link); err != nil {
							return // the reader notices
						}
					}
				}()
				for range depth {
					switch reply, err := replies.ReadString('\n'); {
					case err != nil:
						s.Error(err)
						return
					case reply == "+OK\r\n":
						stored.Add(1)
					case strings.HasPrefix(reply, "-OOM "):
						refused.Add(1)
					default:
						s.Errorf("SET is answered by %q", reply)
					}
				}
			}
		})
	}
	all.Wait()
	s.Logf("of %d values of %d bytes, %d were stored and %d refused", clients*depth*rounds, size, stored.Load(), refused.Load())
	if stored.Load() == 0 || refused.Load() == 0 {
		s.Error("want some of both")
	}
}

// drink has clients ask for many values at once. Some of them never read. The others get each value whole, or an
// error.
func (s *confinement) drink(silent int) {
	s.Helper()
	const thirsty, depth = 8, 200
	question := func(client int) []byte {
		var text []byte
		for i := range depth {
			key := fmt.Sprintf("%d/%d/%d", (client+i)%12, i%4, i%16)
			text = fmt.Appendf(text, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key)
		}
		return text
	}
	var all sync.WaitGroup
	var whole, refused atomic.Int64
	for client := range silent + thirsty {
		link, err := net.Dial("tcp", s.addr)
		if err != nil {
			s.Fatal(err)
		}
		defer link.Close()
		link.SetDeadline(time.Now().Add(patience))
		if _, err := link.Write(question(client)); err != nil {
			s.Fatal(err)
		}
		if client < silent {
			continue
		}
		all.Go(func() {
			replies := bufio.NewReader(link)
			for range depth {
				head, err := replies.ReadString('\n')
				if err != nil {
					s.Error(err)
					return
				}
				n, isNumber := strconv.Atoi(strings.TrimSpace(head[1:]))
				switch {
				case strings.HasPrefix(head, "-OOM "):
					refused.Add(1)
				case head[0] != '$' || isNumber != nil:
					s.Errorf("GET is answered by %q", head)
					return
				case n >= 0:
					if _, err := replies.Discard(n + 2); err != nil {
						s.Error(err)
						return
					}
					whole.Add(1)
				}
			}
		})
	}
	all.Wait()
	s.Logf("%d values came, %d were refused", whole.Load(), refused.Load())
	if whole.Load() == 0 {
		s.Error("no value came")
	}
}

// memoryGroup is a control group with a limit of memory.
type memoryGroup struct {
	path, most string // most is the file that says how much memory there was
}

// newMemoryGroup makes a group of the first version of control groups, or of the second.
func newMemoryGroup(limit int) (g memoryGroup, err error) {
	var problems []error
	for _, v := range []struct{ mount, limit, peak string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		g := memoryGroup{path: filepath.Join(v.mount, fmt.Sprintf("orwl-dht-test-%d", os.Getpid()))}
		g.most = filepath.Join(g.path, v.peak)
		if _, err := os.Stat(filepath.Join(v.mount, "cgroup.procs")); err != nil {
			problems = append(problems, err)
			continue
		}
		if err := os.Mkdir(g.path, 0o755); err != nil {
			problems = append(problems, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(g.path, v.limit), []byte(fmt.Sprint(limit)), 0); err != nil {
			g.remove()
			problems = append(problems, err)
			continue
		}
		// Swapping would hide what does not fit. The file is missing where there is no swapping.
		for _, file := range []string{"memory.memsw.limit_in_bytes", "memory.swap.max"} {
			value := map[bool]string{true: fmt.Sprint(limit), false: "0"}[strings.Contains(file, "memsw")]
			if err := os.WriteFile(filepath.Join(g.path, file), []byte(value), 0); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				g.remove()
				return memoryGroup{}, err
			}
		}
		return g, nil
	}
	return memoryGroup{}, errors.Join(problems...)
}

// peak is how much memory the group has had at most, in bytes, 0 if the kernel does not say.
func (g memoryGroup) peak() int {
	text, _ := os.ReadFile(g.most)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

func (g memoryGroup) remove() {
	for range 100 { // until the kernel knows that the last process has ended
		if os.Remove(g.path) == nil {
			return
		}
	}
}
