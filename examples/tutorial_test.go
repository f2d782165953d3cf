package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// A page fences what a terminal shows by
//
//	```console
//
// A line that begins with "$ " is a command, and the lines below it are what it prints. The test
// runs each go run ./examples/tutorial/..., and compares. In what a page shows, … stands for
// anything in a line, and a line of … for any lines. After a command that shows ^C, the
// program is killed as soon as its folder has a cut. Programs are less slow here than on a page.

const (
	steps       = "go run ./examples/tutorial/"
	onTwoNodes  = "go run ./cmd/orwl run -nodes 2 -- "
	interrupted = "^Csignal: interrupt\n" // go run adds the words
)

// session is a command of a page, and what the page shows below it.
type session struct {
	page, command, shown string
}

// sessions are the commands of a page.
func sessions(page, text string) (all []session) {
	var now *session
	console := false
	for line := range strings.Lines(text) {
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			console, now = strings.TrimSpace(line) == "```console", nil
		case !console:
		case begins:
			all = append(all, session{page: page, command: strings.TrimSpace(command)})
			now = &all[len(all)-1]
		case now != nil:
			now.shown += line
		}
	}
	return all
}

// TestTutorial runs the commands of the tutorial as its pages show them.
func TestTutorial(t *testing.T) {
	bin := built(t)
	programs, err := filepath.Glob("tutorial/*/main.go")
	if err != nil || len(programs) == 0 {
		t.Fatal("no programs: ", err)
	}
	pages, err := filepath.Glob("../docs/tutorial/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	var ran []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir() // the sessions of a page share files
		for _, s := range sessions(filepath.Base(page), string(text)) {
			command, two := strings.CutPrefix(s.command, onTwoNodes)
			args, step := strings.CutPrefix(command, steps)
			if !step {
				continue
			}
			args = strings.NewReplacer(" -slow 5ms", " -slow 1ms", " -slow", "", ":9464", ":0").Replace(args)
			words := strings.Fields(args)
			ran = append(ran, words[0])
			t.Run(s.page+"/"+args, func(t *testing.T) {
				program, env := filepath.Join(bin, words[0]), []string{"TMPDIR=" + folder, "TMP=" + folder}
				var got string
				if two {
					got, err = spawned(t.Context(), launch.Run{Nodes: 2, Program: program, Args: words[1:], Env: env})
				} else {
					run := exec.CommandContext(t.Context(), program, words[1:]...)
					run.Dir, run.Env = folder, append(os.Environ(), env...)
					got, err = printed(t.Context(), run, s.shown == interrupted, filepath.Join(folder, "orwl-plate"))
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := s.check(got); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for _, program := range programs {
		if name := filepath.Base(filepath.Dir(program)); !slices.Contains(ran, name) {
			t.Errorf("no page runs %s", name)
		}
	}
}

// spawned is what the nodes of a run print, and what they log.
func spawned(ctx context.Context, run launch.Run) (string, error) {
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out // one line at a time
	err := launch.Spawn(ctx, run)
	return out.String(), err
}

// printed is the output of a program. With kill, it is killed as soon as there is a cut.
func printed(ctx context.Context, run *exec.Cmd, kill bool, cuts string) (string, error) {
	if !kill {
		var complaints bytes.Buffer
		run.Stderr = &complaints
		out, err := run.Output()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, complaints.String())
		}
		return string(out), err
	}
	if err := run.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	for {
		saved, err := filepath.Glob(filepath.Join(cuts, "*.cut"))
		if err != nil || len(saved) > 0 {
			return interrupted, errors.Join(err, run.Process.Kill(), notKilled(<-ended))
		}
		select {
		case err := <-ended:
			return "", fmt.Errorf("it ended before it was killed: %w", err)
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// notKilled is an error if the program has ended by itself.
func notKilled(end error) error {
	var exit *exec.ExitError
	if errors.As(end, &exit) {
		return nil
	}
	return fmt.Errorf("it was not killed, it ended: %w", end)
}

// varies is a number that may be another one in each run, but not 0.
var varies = regexp.MustCompile(`round=[1-9]\d*`)

// check compares what a program prints with what the page shows.
func (s session) check(got string) error {
	var pattern strings.Builder
	for _, line := range byNode(s.shown) {
		if strings.TrimPrefix(line, node(line)) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		line = varies.ReplaceAllString(regexp.QuoteMeta(line), varies.String())
		pattern.WriteString(strings.ReplaceAll(line, "…", ".+") + " *\n")
	}
	if text := strings.Join(byNode(got), "\n") + "\n"; !regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(text) {
		return fmt.Errorf("%s: %s prints\n%s\nand the page shows\n%s", s.page, s.command, text, s.shown)
	}
	return nil
}

// byNode are the lines, sorted by node: nodes print at the same time.
func byNode(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(node(a), node(b)) })
	return lines
}

// node is what a launcher writes before a line.
func node(line string) string { return regexp.MustCompile(`^(?:\[\d+\] )?`).FindString(line) }

// TestSessionsDiffer plants what a page could show by mistake.
func TestSessionsDiffer(t *testing.T) {
	all := sessions("page.md", "```console\n$ go run x\none\n[1] two 2\n[0] three\n$ curl\n```\n\n```\n$ no session\n```\n")
	if len(all) != 2 || all[0].command != "go run x" || all[1].shown != "" {
		t.Fatalf("%+v", all)
	}
	for got, same := range map[string]bool{
		"one\n[1] two 2\n[0] three\n": true,
		"one\n[0] three\n[1] two 2\n": true,
		"one\n[1] two 3\n[0] three\n": false,
		"one\n[0] three\n":            false,
		"":                            false,
	} {
		if err := all[0].check(got); (err == nil) != same {
			t.Errorf("%q: %v", got, err)
		}
	}
	for shown, same := range map[string]bool{
		"a …\n…\nd\n": true,
		"a …\nd\n":    false,
		"…\n":         true,
		"…\nround=7":  false,
	} {
		if err := (session{shown: shown}).check("a b\nc\nd\n"); (err == nil) != same {
			t.Errorf("%q: %v", shown, err)
		}
	}
	if err := (session{shown: "round=300"}).check("round=200\n"); err != nil {
		t.Error(err)
	}
}
