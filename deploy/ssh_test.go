//go:build linux

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/freeport"
)

// sshd is a server of this machine for one test, which the ssh of our programs knows as host1,
// host2 and host3. It hands down the variables of start.
func sshd(t *testing.T) (start func(name string, args ...string) *exec.Cmd) {
	t.Helper()
	need(t, "sshd", "ssh", "ssh-keygen")
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where sshd has no rights
			t.Fatal(err)
		}
	}
	dir, port := t.TempDir(), freeport.Port(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"host", "user"} {
		output(t, command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)))
	}
	key, err := os.ReadFile(at("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, 0o600, fmt.Sprintf("[127.0.0.1]:%s %s", port, key), at("known"))
	server := write(t, 0o600, fmt.Sprintf(`ListenAddress 127.0.0.1:%[1]s
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
`, port, dir), at("sshd_config"))
	client := write(t, 0o600, fmt.Sprintf(`Host host1 host2 host3
  HostName 127.0.0.1
  Port %[1]s
  IdentityFile %[2]s/user
  IdentitiesOnly yes
  UserKnownHostsFile %[2]s/known
`, port, dir), at("config"))
	daemon(t, "sshd", "-D", "-e", "-f", server)
	start = func(name string, args ...string) *exec.Cmd {
		c := command(t, name, args...)
		c.Env = append(c.Env, "ORWL_SSH=ssh -F "+client)
		return c
	}
	until(t, "sshd answers", func() bool { return start("ssh", "-F", client, "-o", "BatchMode=yes", "host1", "true").Run() == nil })
	return start
}

// TestSSH runs llk23 on two hosts, as it would run alone.
func TestSSH(t *testing.T) {
	start := sshd(t)
	words := append(llk23(), "-ssh", "host1,host2")
	solved(t, 2, output(t, start(words[0], words[1:]...)))
}

// TestSSHEnds ends a run in each way that there is. No process stays behind, and one line says why. The loss of a node ends
// none: the other one goes on until it is interrupted.
func TestSSHEnds(t *testing.T) {
	start := sshd(t)
	signal := func(pid int, s syscall.Signal) {
		if err := syscall.Kill(pid, s); err != nil {
			t.Error(err)
		}
	}
	// ssh says by itself that a server is gone.
	const interrupted = "llk23: stopped without a result: interrupted"
	const lost = `((\[1 host2\] )?Connection to 127.0.0.1 closed by remote host.\r\n)?launch: node [01] on host[12]: ssh ended with code 255: its connection failed, or a signal ended the node: try ssh -o BatchMode=yes HOST true, which must ask for nothing; the others go on\n`
	for _, c := range []struct {
		name   string
		end    func(launcher int, nodes []int)
		goesOn bool
		code   int
		says   string
	}{
		{"interrupt", func(launcher int, _ []int) { signal(launcher, syscall.SIGINT) }, false, 130, interrupted},
		{"node killed", func(_ int, nodes []int) { signal(nodes[1], syscall.SIGKILL) }, true, 130, lost + interrupted},
		{"connection lost", func(_ int, nodes []int) { signal(parent(t, nodes[1]), syscall.SIGKILL) }, true, 130, lost + interrupted},
		{"launcher killed", func(launcher int, _ []int) { signal(launcher, syscall.SIGKILL) }, false, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			words := append(endless(), "-ssh", "host1,host2")
			cmd := start(words[0], words[1:]...)
			nodes := began(t, cmd)
			for _, pid := range append(nodes, cmd.Process.Pid) {
				keepsSecret(t, pid, "")
			}
			before := len(cmd.Stderr.(*heard).String())
			after := func() string { return cmd.Stderr.(*heard).String()[before:] }
			c.end(cmd.Process.Pid, nodes)
			if c.goesOn {
				until(t, "the run goes on", func() bool { return strings.Contains(after(), `"msg":"orwl: the run goes on"`) })
				until(t, "the launcher notices", func() bool { return strings.Contains(after(), "; the others go on\n") })
				signal(cmd.Process.Pid, syscall.SIGINT)
			}
			_ = cmd.Wait() // the code says how it ended
			gone(t, "llk23")
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			messages := "sweeping"
			if c.goesOn {
				messages += "|node lost|epoch|orwl: the run goes on"
			}
			said := regexp.MustCompile(`(?m)^(\[1 host2\] )?{.*"msg":"(`+messages+`).*\n`).ReplaceAllString(after(), "")
			if c.says != "" && !regexp.MustCompile("^"+c.says+"\n$").MatchString(said) {
				t.Errorf("says %q, want %q alone", said, c.says)
			}
		})
	}
}

// TestSSHServes has three hosts serve a table. When the node of one is killed, the keys of the
// others are served. Nobody sees the password, nor the key of the run.
func TestSSHServes(t *testing.T) {
	start := sshd(t)
	const password = "only-clients-know-it"
	c := start(filepath.Join(programs, "dht"), "serve", "-listen", "127.0.0.1:0", "-ssh", "host1,host2,host3")
	c.Env = append(c.Env, "DHT_PASSWORD="+password)
	said := new(heard)
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	at := serving(t, said, 3)
	for _, pid := range processes(t, "dht") {
		keepsSecret(t, pid, password)
	}
	const keys = 30
	for i := range keys {
		if got := ask(t, at[i%3], password, fmt.Sprintf("SET key%d %d", i, i)); got != "+OK" {
			t.Fatalf("%q", got)
		}
	}
	if err := syscall.Kill(server(t, at[1], password), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the launcher notices", func() bool { return strings.Contains(said.String(), "; the others go on\n") })
	served := 0
	for i := range keys {
		got := ask(t, at[i%2*2], password, fmt.Sprintf("INCR key%d", i))
		if strings.HasPrefix(got, ":") {
			served++
		} else if !strings.HasPrefix(got, "-ERR node 1, which has the key, is lost") {
			t.Errorf("key%d: %q", i, got)
		}
	}
	if served == 0 || served == keys {
		t.Errorf("%d of %d keys are served, want those of two nodes", served, keys)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says how it ended
	gone(t, "dht")
	if code := c.ProcessState.ExitCode(); code != 130 { // Ctrl-C, whatever was lost before
		t.Errorf("exit code %d, want 130", code)
	}
	if !strings.Contains(said.String(), "launch: node 1 on host2: ssh ended with code 255") || !strings.Contains(said.String(), "[2 host3] {") {
		t.Errorf("says\n%s", said)
	}
}

// parent is the process that has started another one.
func parent(t *testing.T, pid int) (parent int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nPPid:\t")
	if _, err := fmt.Sscan(rest, &parent); err != nil {
		t.Fatal(err)
	}
	return parent
}

// keepsSecret looks for a key, and for a password, where others see it: in the arguments of all
// processes; and for a key in the variables of one.
func keepsSecret(t *testing.T, pid int, password string) {
	t.Helper()
	key := regexp.MustCompile(`[0-9a-f]{64}`)
	variables, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Error(err)
	}
	if key.Match(variables) || strings.Contains(string(variables), "ORWL_KEY") {
		t.Errorf("process %d has the key in a variable", pid)
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, one := range all {
		line, _ := os.ReadFile(one) // it may have ended
		if !strings.Contains(string(line), programs) {
			continue
		}
		if key.Match(line) || password != "" && strings.Contains(string(line), password) {
			t.Errorf("a list of processes shows a secret: %q", line)
		}
	}
}
