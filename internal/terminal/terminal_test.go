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

// TestTextOnTerminal writes to a device of characters, which is what a terminal is told by.
func TestTextOnTerminal(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer device.Close()
	t.Setenv("TERM", "xterm")
	if _, text := Log(device, slog.LevelInfo).Handler().(*slog.TextHandler); !text {
		t.Error("no text on a terminal")
	}
	t.Setenv("TERM", "dumb")
	if _, text := Log(device, slog.LevelInfo).Handler().(*slog.TextHandler); text {
		t.Error("text where nobody looks")
	}
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	t.Setenv("TERM", "xterm")
	if Is(file) {
		t.Error("a file is a terminal")
	}
}
