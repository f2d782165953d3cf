package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// ask asks a server for a page, in a format unless that is empty.
func ask(t *testing.T, s *Server, path, accept string) (status int, kind, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(b)
}

// serves is a server that is closed in the end.
func serves(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	o.Address = "127.0.0.1:0"
	s, err := Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestPages(t *testing.T) {
	m, registry := made(t, Options{})
	s := serves(t, ServerOptions{Gatherer: registry, Ready: m.Ready, Inspect: func() any { return map[string]int{"node": 7} }})
	for _, c := range []struct {
		path, accept string
		status       int
		kind, says   string
	}{
		{"/", "", 200, "text/html", "/debug/orwl"},
		{"/metrics", "", 200, "text/plain", "\norwl_info{"},
		{"/metrics", "application/openmetrics-text; version=1.0.0", 200, "application/openmetrics-text", "# EOF"},
		{"/metrics", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited", 200, "application/vnd.google.protobuf", "orwl_hold_seconds"},
		{"/healthz", "", 200, "text/plain", "ok"},
		{"/readyz", "", 503, "text/plain", ErrNotStarted.Error()},
		{"/debug/orwl", "", 200, "application/json", `"node": 7`},
		{"/debug/pprof/", "", 200, "text/html", "goroutine"},
		{"/debug/pprof/goroutine?debug=1", "", 200, "text/plain", "goroutine profile"},
		{"/nothing", "", 404, "text/plain", "not found"},
	} {
		status, kind, body := ask(t, s, c.path, c.accept)
		if status != c.status || !strings.HasPrefix(kind, c.kind) || !strings.Contains(body, c.says) {
			t.Errorf("%s as %q: %d %s %.200q, want %d %s and %q in it", c.path, c.accept, status, kind, body, c.status, c.kind, c.says)
		}
	}
	answer, err := http.Post("http://"+s.Address()+"/metrics", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST: %d", answer.StatusCode)
	}
}

func TestNoState(t *testing.T) {
	_, registry := made(t, Options{})
	s := serves(t, ServerOptions{Gatherer: registry})
	if status, _, _ := ask(t, s, "/debug/orwl", ""); status != 404 {
		t.Errorf("without a state: %d", status)
	}
	if status, _, body := ask(t, s, "/readyz", ""); status != 200 {
		t.Errorf("without Ready: %d %q", status, body)
	}
	s = serves(t, ServerOptions{Gatherer: registry, Inspect: func() any { return func() {} }})
	status, _, body := ask(t, s, "/debug/orwl", "")
	var wrong *json.UnsupportedTypeError
	if status != 500 || !strings.Contains(body, "unsupported type") {
		t.Errorf("%d %q, want %T", status, body, wrong)
	}
}

// A wrong address gives an error of one line, and nothing listens.
func TestRefused(t *testing.T) {
	registry := prometheus.NewRegistry()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		o    ServerOptions
		want string
	}{
		{ServerOptions{}, "Gatherer"},
		{ServerOptions{Gatherer: registry, Node: -1}, "Node"},
		{ServerOptions{Gatherer: registry, Address: "9464"}, "want HOST:PORT"},
		{ServerOptions{Gatherer: registry, Address: ":http"}, ":http\" is no number"},
		{ServerOptions{Gatherer: registry, Address: ":65536"}, "up to 65535"},
		{ServerOptions{Gatherer: registry, Address: "localhost:65530", Node: 6}, "node 6 would have port 65536"},
		{ServerOptions{Gatherer: registry, Address: "example.invalid:80"}, "no IP address"},
		{ServerOptions{Gatherer: registry, Address: "0.0.0.0:0"}, "without a cluster key"},
		{ServerOptions{Gatherer: registry, Address: "[::]:0"}, "without a cluster key"},
		{ServerOptions{Gatherer: registry, Address: "192.0.2.1:80", Key: true}, "192.0.2.1:80"},
		{ServerOptions{Gatherer: registry, Address: l.Addr().String()}, "port taken"},
	} {
		s, err := Serve(t.Context(), c.o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want one line about %q", c.o, err, c.want)
		}
	}
	if _, err := Serve(t.Context(), ServerOptions{Gatherer: registry, Address: "0.0.0.0:0"}); !errors.Is(err, ErrNoKey) {
		t.Errorf("beyond loopback: %v, want ErrNoKey", err)
	}
}

// Nodes of one machine listen side by side, and with a key beyond it.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		o    ServerOptions
		want string
	}{
		{ServerOptions{}, "127.0.0.1:9464"},
		{ServerOptions{Node: 3}, "127.0.0.1:9467"},
		{ServerOptions{Address: ":80"}, "127.0.0.1:80"},
		{ServerOptions{Address: "localhost:80", Node: 1}, "127.0.0.1:81"},
		{ServerOptions{Address: "127.0.0.1:0", Node: 5}, "127.0.0.1:0"},
		{ServerOptions{Address: "[::1]:80"}, "[::1]:80"},
		{ServerOptions{Address: "0.0.0.0:80", Node: 2, Key: true}, "0.0.0.0:82"},
	} {
		if got, err := c.o.withDefaults().port().Listens(); got != c.want || err != nil {
			t.Errorf("%+v: %s, %v, want %s", c.o, got, err, c.want)
		}
	}
}

// The end of the context ends it, also during an answer.
func TestContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	s, err := Serve(ctx, ServerOptions{Address: "127.0.0.1:0", Gatherer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, _ := ask(t, s, "/healthz", ""); status != 200 {
		t.Errorf("before: %d", status)
	}
	end()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", s.Address()); err == nil {
		c.Close()
		t.Error("it listens still")
	}
}

// A page in a browser that gives its own name this port's address reads nothing.
func TestOtherNames(t *testing.T) {
	_, registry := made(t, Options{})
	s := serves(t, ServerOptions{Gatherer: registry})
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"attacker.example:9464": 421, "attacker.example": 421, "127.0.0.1.attacker.example": 421,
		"127.0.0.1:9464": 200, "[::1]:9464": 200, "10.1.2.3": 200, "localhost:80": 200, "dht:9470": 200, machine: 200,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+"/debug/pprof/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("asked as %s: %d, want %d", host, answer.StatusCode, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
