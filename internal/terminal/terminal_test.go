package terminal

import (
	"encoding/json"
	"io"
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

// A node's lines go by a pipe to its launcher, which may have a terminal. No person sees what the node writes
// elsewhere.
func TestTextForLauncher(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		variable string
		out      io.Writer
		text     bool
	}{{"1", w, true}, {"", w, false}, {"0", w, false}, {"1", file, false}, {"1", io.Discard, false}} {
		t.Setenv(Variable, c.variable)
		if _, text := Log(c.out, slog.LevelInfo).Handler().(*slog.TextHandler); text != c.text || IsSeen(c.out) != c.text {
			t.Errorf("%s=%q, %T: text is %v, seen is %v, want %v", Variable, c.variable, c.out, text, IsSeen(c.out), c.text)
		}
		if Is(c.out) {
			t.Errorf("%s=%q, %T: a terminal", Variable, c.variable, c.out)
		}
	}
}

// over is a writer to another one.
type over struct{ io.Writer }

func (o over) Under() io.Writer { return o.Writer }

// A writer over a terminal is asked for what it is over.
func TestOverTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	t.Setenv("TERM", "xterm")
	if !Is(over{over{terminal}}) || Is(over{io.Discard}) {
		t.Errorf("over a terminal: %v; over none: %v", Is(over{over{terminal}}), Is(over{io.Discard}))
	}
}
