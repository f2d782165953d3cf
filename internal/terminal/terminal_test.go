package terminal

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestJSONElsewhere(t *testing.T) {
	var out strings.Builder
	log := Log(&out, slog.LevelInfo).With("node", 2)
	log.Debug("not to be seen")
	log.Info("metrics", "address", "127.0.0.1:9466")
	var record map[string]any
	if err := json.Unmarshal([]byte(out.String()), &record); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if record["msg"] != "metrics" || record["node"] != 2. || record["address"] != "127.0.0.1:9466" || record["level"] != "INFO" {
		t.Errorf("the record is %v", record)
	}
}

// TestTextOnTerminal asks a terminal, and two files that are none.
func TestTextOnTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	t.Setenv("TERM", "xterm")
	if _, text := Log(terminal, slog.LevelInfo).Handler().(*slog.TextHandler); !text {
		t.Error("no text on a terminal")
	}
	t.Setenv("TERM", "dumb")
	if _, text := Log(terminal, slog.LevelInfo).Handler().(*slog.TextHandler); text {
		t.Error("text where nobody looks")
	}
	t.Setenv("TERM", "xterm")
	for _, name := range []string{os.DevNull, t.TempDir() + "/log"} {
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if Is(file) {
			t.Errorf("%s is a terminal", name)
		}
		file.Close()
	}
}
