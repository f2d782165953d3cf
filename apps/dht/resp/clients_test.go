package resp

import (
	"bytes"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// TestRedisCLI uses the server as a person does.
func TestRedisCLI(t *testing.T) {
	program := installed(t, "redis-cli")
	w := serve(t, Options{Password: "secret"})
	host, port, _ := net.SplitHostPort(w.addr)
	cli := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-h", host, "-p", port, "--no-auth-warning"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("redis-cli %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, row := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"ping"}, "NOAUTH Authentication required.\n\n"},
		{"", []string{"-a", "secret", "set", "k", "a b"}, "OK\n"},
		{"", []string{"-a", "secret", "--no-raw", "get", "k"}, "\"a b\"\n"},
		{"", []string{"-a", "secret", "-3", "--no-raw", "get", "nothing"}, "(nil)\n"},
		{"incr n\nincr n\nmget n nothing\n", []string{"-a", "secret"}, "1\n2\n2\n\n"},
		{array("SET", "x", "1") + array("SET", "y", "2"), []string{"-a", "secret", "--pipe"}, "All data transferred. Waiting for the last reply...\nLast reply received from server.\nerrors: 0, replies: 2\n"},
		{"", []string{"-a", "secret", "--scan", "--pattern", "[xy]"}, ""},
	} {
		got := cli(row.stdin, row.args...)
		if row.want != "" && got != row.want {
			t.Errorf("redis-cli %q says %q, want %q", row.args, got, row.want)
		}
		if row.want == "" && (!strings.Contains(got, "x\n") || !strings.Contains(got, "y\n")) {
			t.Errorf("redis-cli %q says %q", row.args, got)
		}
	}
	// --stat goes on for ever: the second line is enough.
	cmd := exec.CommandContext(t.Context(), program, "-h", host, "-p", port, "--no-auth-warning", "-a", "secret", "-i", "0.01", "--stat")
	var out bytes.Buffer
	cmd.Stdout = &lines{to: &out, most: 3, done: func() { cmd.Process.Kill() }}
	cmd.Run()
	if !strings.Contains(out.String(), "\n4 ") {
		t.Errorf("redis-cli --stat says\n%s", out.String())
	}
}

// lines is what a program prints until it has printed enough lines.
type lines struct {
	to   *bytes.Buffer
	most int
	done func()
}

func (l *lines) Write(b []byte) (int, error) {
	l.to.Write(b)
	if bytes.Count(l.to.Bytes(), []byte("\n")) >= l.most {
		l.done()
	}
	return len(b), nil
}

// TestRedisBenchmark lets redis-benchmark ask everything that it asks and we know.
func TestRedisBenchmark(t *testing.T) {
	program := installed(t, "redis-benchmark")
	w := serve(t, Options{})
	host, port, _ := net.SplitHostPort(w.addr)
	for _, deep := range []string{"1", "16"} {
		out, err := exec.CommandContext(t.Context(), program, "-h", host, "-p", port, "-t", "ping,set,get,incr,mset",
			"-n", "2000", "-c", "20", "-r", "100", "-P", deep, "-q").CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("rror")) || bytes.Contains(out, []byte("WARNING")) || bytes.Count(out, []byte("requests per second")) != 6 {
			t.Errorf("redis-benchmark -P %s: %v\n%s", deep, err, out)
		}
	}
}

func installed(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}
