package promserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// Options say what Prometheus is told besides its targets.
type Options struct {
	// Rules is a file with rules, if any.
	Rules string
}

// Job is the targets that Prometheus scrapes under one name, which the series have as their
// label job.
type Job struct {
	Name    string
	Targets []string // each is host:port
}

// Server is a Prometheus that runs until the test is over.
type Server struct {
	t       testing.TB
	address string
	targets string // the file that names them
}

// Look finds a program of Prometheus, prometheus or promtool, and skips the test if it is
// not installed.
func Look(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed (Debian's package prometheus has it): %v", program, err)
	}
	return path
}

const interval = "500ms"

// Start starts Prometheus.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	program := Look(t, "prometheus")
	dir := t.TempDir()
	s := &Server{t: t, targets: filepath.Join(dir, "targets.json")}
	s.Watch()
	config := fmt.Sprintf("global: {scrape_interval: %s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}\n"+
		"scrape_configs: [{job_name: test, file_sd_configs: [{files: [%q], refresh_interval: %[1]s}]}]\n", interval, s.targets)
	if o.Rules != "" {
		rules, err := filepath.Abs(o.Rules)
		if err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("rule_files: [%q]\n", rules)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--log.level=info")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	read := make(chan struct{})
	go func() { defer close(read); follow(log, said) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-read
		_ = cmd.Wait()
	})
	if s.address = <-said; s.address == "" {
		<-read
		t.Fatal("prometheus has ended without listening")
	}
	s.until("ready", func() (bool, any) { return s.ready(), nil })
	return s
}

var listening = regexp.MustCompile(`"?[Ll]istening on"? address=([0-9.:]+)`)

// follow reads the log to its end, and says at which address Prometheus listens, or
// nothing if it never did.
func follow(log io.Reader, address chan<- string) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			select {
			case address <- found[1]:
			default:
			}
		}
	}
	close(address)
}

// Watch names the targets that Prometheus asks from now on. It takes some seconds to turn to
// them.
func (s *Server) Watch(jobs ...Job) {
	s.t.Helper()
	groups := make([]any, 0, len(jobs))
	for _, j := range jobs {
		groups = append(groups, map[string]any{"targets": j.Targets, "labels": map[string]string{"job": j.Name}})
	}
	text, err := json.Marshal(groups)
	if err != nil {
		s.t.Fatal(err)
	}
	// Renamed, so that it is never read half.
	fresh := s.targets + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(fresh, s.targets); err != nil {
		s.t.Fatal(err)
	}
}

// Sample is one of an instant vector.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// patience is for how long something may not come true. It is never waited for if all is
// well.
const patience = 5 * time.Minute

// Query evaluates an expression in PromQL now.
func (s *Server) Query(expr string) []Sample {
	s.t.Helper()
	samples, err := s.ask(expr)
	if err != nil {
		s.t.Fatalf("%s: %v", expr, err)
	}
	return samples
}

// Value is the value of an expression that selects exactly one sample.
func (s *Server) Value(expr string) float64 {
	s.t.Helper()
	samples := s.Query(expr)
	if len(samples) != 1 {
		s.t.Fatalf("%s: %d samples, want 1: %v", expr, len(samples), samples)
	}
	return samples[0].Value
}

// Until asks until all samples of an expression are as wanted, and there is one at least. It
// returns them.
func (s *Server) Until(expr string, wanted func(value float64) bool) []Sample {
	s.t.Helper()
	var last []Sample
	s.until(expr, func() (bool, any) {
		last = s.Query(expr)
		for _, one := range last {
			if !wanted(one.Value) {
				return false, last
			}
		}
		return len(last) > 0, last
	})
	return last
}

// Returns waits until an expression returns something, as a panel that shows it does.
func (s *Server) Returns(expr string) {
	s.t.Helper()
	s.Until("count(("+expr+") >= -Inf) or vector(0)", func(n float64) bool { return n > 0 })
}

// until tries again and again. If it never is, the failure shows what was seen last.
func (s *Server) until(what string, is func() (yes bool, seen any)) {
	s.t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	enough := time.After(patience)
	for {
		yes, seen := is()
		if yes {
			return
		}
		select {
		case <-again.C:
		case <-s.t.Context().Done():
			s.t.Fatalf("%s: the test is over", what)
		case <-enough:
			s.t.Fatalf("%s: not in %v, but %v", what, patience, seen)
		}
	}
}

func (s *Server) ready() bool {
	r, err := http.Get("http://" + s.address + "/-/ready")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// answer is the answer of Prometheus's HTTP API to an instant query.
type answer struct {
	Error string
	Data  struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Value  [2]any // a time, and a number as text
		}
	}
}

func (s *Server) ask(expr string) ([]Sample, error) {
	r, err := http.PostForm("http://"+s.address+"/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var a answer
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		return nil, err
	}
	if a.Error != "" || a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("a %s, %s", a.Data.ResultType, a.Error)
	}
	var samples []Sample
	for _, one := range a.Data.Result {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, Sample{one.Metric, value})
	}
	return samples, nil
}
