package resp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestGoRedis uses the server as a program in Go does, in both protocols.
func TestGoRedis(t *testing.T) {
	for version := 2; version <= 3; version++ {
		t.Run(fmt.Sprintf("RESP%d", version), func(t *testing.T) {
			w := serve(t, Options{Password: "secret"})
			r := redis.NewClient(&redis.Options{Addr: w.addr, Password: "secret", Protocol: version, ClientName: "test"})
			defer r.Close()
			goRedis(t, t.Context(), r, w.fake)
		})
	}
}

func goRedis(t *testing.T, ctx context.Context, r *redis.Client, f *fake) {
	is := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	pong, err := r.Ping(ctx).Result()
	is("ping", pong, err, "PONG")
	ok, err := r.Set(ctx, "k", "v", time.Minute).Result()
	is("set", ok, err, "OK")
	v, err := r.Get(ctx, "k").Result()
	is("get", v, err, "v")
	ttl, err := r.TTL(ctx, "k").Result()
	is("ttl", ttl, err, time.Minute)
	f.now.Add(time.Minute.Milliseconds())
	if _, err := r.Get(ctx, "k").Result(); err != redis.Nil {
		t.Errorf("get of what has expired: %v, want redis.Nil", err)
	}
	n, err := r.IncrBy(ctx, "n", 41).Result()
	is("incrby", n, err, 41)
	if err := r.Set(ctx, "k", "word", 0).Err(); err != nil {
		t.Error(err)
	}
	if err := r.Incr(ctx, "k").Err(); err == nil || err.Error() != textNotInteger {
		t.Errorf("incr of a word: %v", err)
	}
	many, err := r.MGet(ctx, "k", "nothing", "n").Result()
	is("mget", many, err, "[word <nil> 41]")
	ok, err = r.MSet(ctx, "a", 1, "b", 2).Result()
	is("mset", ok, err, "OK")
	gone, err := r.Del(ctx, "a", "b", "c").Result()
	is("del", gone, err, 2)

	pipe := r.Pipeline()
	for i := range 500 {
		pipe.Set(ctx, fmt.Sprintf("p%03d", i), i, 0)
	}
	_, err = pipe.Exec(ctx)
	is("pipeline", "", err, "")
	var keys []string
	for it := r.Scan(ctx, 0, "p*", 50).Iterator(); it.Next(ctx); {
		keys = append(keys, it.Val())
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	is("scan", len(keys), nil, 500)
	size, err := r.DBSize(ctx).Result()
	is("dbsize", size, err, 502)
	name, err := r.ClientGetName(ctx).Result()
	is("client getname", name, err, "test")
	commands, err := r.Command(ctx).Result()
	is("command", len(commands) > 40 && commands["get"].FirstKeyPos == 1, err, true)
	setting, err := r.ConfigGet(ctx, "save").Result()
	is("config get", setting, err, "map[save:]")
	about, err := r.Info(ctx, "server").Result()
	is("info", strings.Contains(about, "redis_version:"), err, true)
	ok, err = r.FlushDB(ctx).Result()
	is("flushdb", ok, err, "OK")
	size, err = r.DBSize(ctx).Result()
	is("dbsize", size, err, 0)
}

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
