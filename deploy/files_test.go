//go:build linux

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The commands of the compose file and of the systemd unit are command lines that the program
// takes. A flag that it does not know would make it complain before it shows its help.
func TestCommandLines(t *testing.T) {
	need(t)
	var compose struct {
		Services map[string]struct{ Command []string }
	}
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	lines := make(map[string][]string)
	for name, s := range compose.Services {
		if strings.HasPrefix(name, "node") {
			lines["compose.yaml: "+name] = s.Command
		}
	}
	unit, err := os.ReadFile("dht.service")
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(string(unit))
	if start == nil {
		t.Fatal("the unit starts nothing")
	}
	lines["dht.service"] = strings.Fields(start[1])
	if len(lines) != 3 {
		t.Errorf("%d command lines, want 3", len(lines))
	}
	for where, line := range lines {
		program := filepath.Join(programs, filepath.Base(line[0]))
		out, err := exec.Command(program, append(line[1:len(line):len(line)], "-h")...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "-password-file FILE") {
			t.Errorf("%s: %q: %v\n%.300s", where, line, err, out)
		}
	}
}

// systemd itself checks the unit.
func TestUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	text, err := os.ReadFile("dht.service")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dht.service")
	text = []byte(strings.ReplaceAll(string(text), "/usr/local/bin/dht", "/bin/true"))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
