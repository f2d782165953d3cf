package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/watch"
)

// orwl why names the task on which a run hangs, from a node that answers, and orwl top shows its tasks.
func TestWhy(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("shared", 8)
	hang, goOn := make(chan struct{}), make(chan struct{})
	for _, name := range []string{"first", "second"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Each(1, func(int) error {
			if name == "first" {
				close(hang)
				<-goOn
			}
			return nil
		})
	}
	ran := make(chan error)
	go func() { ran <- rt.Run(context.Background()) }()
	<-hang
	p, mux := watch.New(func() *orwl.Runtime { return rt }), http.NewServeMux()
	p.Register(mux)
	s := httptest.NewServer(mux)
	at := strings.TrimPrefix(s.URL, "http://")
	code, out, complaints := try(t, "why", "127.0.0.1:1", at)
	if code != command.Done || strings.Count(out, "\n") != 1 || !strings.Contains(out, "task first works in round 0 for ") ||
		!strings.HasSuffix(out, "chan receive), and holds shared; 1 task waits for it: second ──▶ first\n") {
		t.Errorf("%d, %s%s", code, out, complaints)
	}
	var why inspect.Why
	if code, out, _ := try(t, "why", "-json", at); code != command.Done || json.Unmarshal([]byte(out), &why) != nil || why.Task != "first" || !why.Stands {
		t.Errorf("%d, %s", code, out)
	}
	if code, out, _ := try(t, "top", "-once", at); code != command.Done || !strings.Contains(out, "\nsecond (node 0) waits for a turn at shared") {
		t.Errorf("%d, %s", code, out)
	}
	close(goOn)
	if err := <-ran; err != nil {
		t.Error(err)
	}
	p.Close()
	s.Close()
	for _, command := range []string{"why", "top"} {
		if code, _, complaints := try(t, command, "127.0.0.1:1"); code != 1 || !strings.Contains(complaints, "no run is shown there") {
			t.Errorf("%s where nothing listens: %d, %s", command, code, complaints)
		}
	}
}
