package promserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
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
