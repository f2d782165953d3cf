package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/port"
)

const playText = `Serves a page with a simulator in it: write a system of tasks, and see whether the proof
accepts it, or which tasks would wait for each other in a circle; play it step by step;
explore all schedules of a lock, let a rank die, cut the network, take a line of the lock
away. Four stories show what to look at. A link of the page holds all that was entered.

The simulator is built when the page is made, so this needs the go command, in a module
that uses this one. The first time takes about a minute. With -page it is one file, which
needs no server.
`

// playAddress is where the page is if nothing else is said. A link that is shared leads there.
const playAddress = "127.0.0.1:9480"

// The parts of the page. Beside them it has Go's own wasm_exec.js, the simulator, and the texts of the locks.
const (
	simulatorPackage = "github.com/orwl/go-orwl/cmd/orwl/play/wasm"
	lockPackage      = "github.com/orwl/go-orwl/net/sim/specimen"
)

//go:embed play/page.html play/page.css play/page.js
var playSources embed.FS

// runPlay is orwl play.
func runPlay(f *flag.FlagSet, args []string, out io.Writer) error {
	file := f.String("page", "", "write the page to `FILE`, and do not serve it")
	listen := f.String("listen", playAddress, "listen at `HOST:PORT`, on this machine; port 0 is any")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if _, err := (port.Options{Address: *listen}).Listens(); err != nil {
		return command.Misusef("-listen is %q: %w", *listen, err)
	}
	page, err := playPage()
	if err != nil {
		return err
	}
	if *file != "" {
		return outfile.Write(*file, func(to io.Writer) error {
			_, err := to.Write(page)
			return err
		})
	}
	ctx, stop, interrupted := command.Interrupts()
	defer stop()
	s, err := port.Serve(ctx, port.Options{Address: *listen, Handler: playHandler(page)})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(out, "http://%s/\n", s.Address())
	<-ctx.Done()
	if interrupted() {
		return command.ErrInterrupted
	}
	return nil
}

// playHandler serves the page. It loads nothing from elsewhere.
func playHandler(page []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(page) // a reader that is gone sees nothing
	})
	return mux
}

// playPage makes the page.
func playPage() ([]byte, error) {
	simulator, err := buildSimulator()
	if err != nil {
		return nil, err
	}
	root, err := goCommand("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	start, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("the program that starts Go in a browser: %w", err)
	}
	folder, err := goCommand("list", "-f", "{{.Dir}}", lockPackage)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string)
	for _, name := range []string{"mcs.go", "ticket.go", "counting.go", "hemlock.go", "printed.go"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	locks, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	part := func(name string) string {
		text, err := playSources.ReadFile("play/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(text)
	}
	script := strings.Replace(part("page.js"), "/* sources */", string(locks), 1)
	r := strings.NewReplacer("/* page.css */\n", part("page.css"), "/* wasm_exec.js */\n", string(start),
		"/* simulator */", base64.StdEncoding.EncodeToString(simulator), "/* page.js */\n", script)
	return []byte(r.Replace(part("page.html"))), nil
}

// buildSimulator builds the program for browsers, and packs it. Without inlining it is smaller.
func buildSimulator() ([]byte, error) {
	dir, err := os.MkdirTemp("", "orwl")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "simulator.wasm")
	if _, err := goCommand("build", "-trimpath", "-gcflags=all=-l", "-ldflags=-s -w", "-o", name, simulatorPackage); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	to, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(program); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// goCommand runs the go command for browsers, and returns its output.
func goCommand(args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "CGO_ENABLED=0")
	said, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no go command: orwl play builds the simulator with it")
	case errors.As(err, &exit):
		return "", fmt.Errorf("go %s, in a module that uses github.com/orwl/go-orwl: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return "", err
	}
	return strings.TrimSpace(string(said)), nil
}
