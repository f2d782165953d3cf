package promserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

func TestServer(t *testing.T) {
	rings.Needs(t, rings.Change)
	s := Start(t, Options{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, "answers 42\n") // Prometheus tells if it does not come
	}))
	defer target.Close()
	address := strings.TrimPrefix(target.URL, "http://")
	s.Watch(Job{"here", []string{address}})
	found := s.Until("answers", func(v float64) bool { return v == 42 })
	if len(found) != 1 || found[0].Labels["job"] != "here" || found[0].Labels["instance"] != address {
		t.Errorf("found %v", found)
	}
	if v := s.Value("answers * 2"); v != 84 {
		t.Errorf("twice 42 is %v", v)
	}
	target.Close()
	s.Until("up", func(v float64) bool { return v == 0 })
	if _, err := s.ask("sum("); err == nil {
		t.Error("what is no expression has a value")
	}
}
