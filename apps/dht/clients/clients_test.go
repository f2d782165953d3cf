package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// serve starts the hash table with a password, and returns its address.
func serve(t *testing.T, password string) string {
	t.Helper()
	dht := filepath.Join(t.TempDir(), "dht")
	build := exec.Command("go", "build", "-o", dht, ".")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(dht, "serve", "-listen", "127.0.0.1:0")
	server.Env = append(os.Environ(), "DHT_PASSWORD="+password)
	says, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
		if code := server.ProcessState.ExitCode(); code != 130 { // the code of an interrupt in a shell
			t.Errorf("the server ends with code %d", code)
		}
	})
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving redis clients" {
			go func() {
				for lines.Scan() { // so that the server never waits for a reader
				}
			}()
			return line.Address
		}
		t.Log(lines.Text())
	}
	t.Fatal("the server has ended: ", lines.Err())
	return ""
}

// TestGoRedis uses the server as a program in Go does, in both protocols.
func TestGoRedis(t *testing.T) {
	addr := serve(t, "secret")
	for version := 2; version <= 3; version++ {
		t.Run(fmt.Sprintf("RESP%d", version), func(t *testing.T) {
			r := redis.NewClient(&redis.Options{Addr: addr, Password: "secret", Protocol: version, ClientName: "test"})
			defer r.Close()
			goRedis(t, t.Context(), r)
		})
	}
}

func goRedis(t *testing.T, ctx context.Context, r *redis.Client) {
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
	ok, err = r.Set(ctx, "brief", "v", time.Millisecond).Result()
	is("set", ok, err, "OK")
	for err == nil {
		err = r.Get(ctx, "brief").Err()
	}
	if err != redis.Nil {
		t.Errorf("get of what has expired: %v, want redis.Nil", err)
	}
	n, err := r.IncrBy(ctx, "n", 41).Result()
	is("incrby", n, err, 41)
	if err := r.Set(ctx, "k", "word", 0).Err(); err != nil {
		t.Error(err)
	}
	if err := r.Incr(ctx, "k").Err(); err == nil || !strings.Contains(err.Error(), "not an integer") {
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
