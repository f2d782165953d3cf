package watch

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// ORWL_WATCH has a runtime serve its page, print the link, and end with the runtime. No foreign name gets an answer.
func TestVariable(t *testing.T) {
	t.Setenv(Variable, "127.0.0.1:0")
	var log bytes.Buffer
	rt, err := orwl.New(orwl.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`msg=watch url=(http://127\.0\.0\.1:\d+/)\n`).FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("no link: %s", log.String())
	}
	defer http.DefaultClient.CloseIdleConnections()
	for host, want := range map[string]int{"": 200, "localhost:1": 200, "page.example": 421} {
		for _, path := range []string{"", "watch/why"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m[1]+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != want || path != "" && want == 200 && string(text) != "no task runs: the run has not begun\n" {
				t.Errorf("/%s as %q: %d %.100s", path, host, answer.StatusCode, text)
			}
		}
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(m[1], "http://"), "/")); err == nil {
		c.Close()
		t.Error("the port is open after the end")
	}
	// A page that cannot be served does not end the run.
	log.Reset()
	t.Setenv(Variable, "0.0.0.0:0")
	if rt, err = orwl.New(orwl.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil || !strings.Contains(log.String(), "without a cluster key the port stays on this machine") {
		t.Errorf("%v, %s", err, log.String())
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
