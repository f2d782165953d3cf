package liveness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/resource"
)

var rewrite = flag.Bool("liveness.rewrite", false, "write the transcripts anew")

// A transcript is blocks of commands. A line of dashes follows each block, and then the
// answers: one line for each command that has an answer.
//
//	request h=1 write        queues h1
//	renew h=1 as=2 write     requests h2, and releases h1
//	release h=1
//	cancel h=1
//	show                     the groups of the queue, the granted one first
func TestFIFOTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/fifo/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replayFIFO(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(text) && !*rewrite {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// replayFIFO returns the transcript with the answers of a FIFO.
func replayFIFO(t *testing.T, text string) string {
	var q FIFO
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, _, _ := strings.Cut(block, "----")
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%s\n----\n", strings.TrimSpace(commands))
		for line := range strings.Lines(commands) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" {
				out.WriteString(answerFIFO(t, &q, line))
			}
		}
		checkFIFO(t, &q)
	}
	return out.String()
}

// answerFIFO executes one command and returns the answer.
func answerFIFO(t *testing.T, q *FIFO, line string) string {
	var granted []coherence.ID
	var id, as coherence.ID
	var mode string
	var err error
	is := func(format string, args ...any) bool {
		n, _ := fmt.Sscanf(line, format, args...)
		return n == len(args) && strings.HasPrefix(line, strings.Fields(format)[0]+" ")
	}
	modes := map[string]resource.Mode{"read": resource.Read, "write": resource.Write, "neither": resource.Write + 1}
	switch {
	case line == "show":
		return showFIFO(q)
	case is("request h=%d %s", &id, &mode):
		granted, err = q.Request(id, modes[mode], nil)
	case is("renew h=%d as=%d %s", &id, &as, &mode):
		granted, err = q.Renew(id, as, modes[mode], nil)
	case is("release h=%d", &id):
		granted, err = q.Release(id, nil)
	case is("cancel h=%d", &id):
		granted, err = q.Cancel(id, nil)
	default:
		t.Fatalf("no command: %q", line)
	}
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	if len(granted) == 0 {
		return ""
	}
	text := "granted:"
	for _, id := range granted {
		text += fmt.Sprintf(" h%d", id)
	}
	return text + "\n"
}

// showFIFO is the queue in one line.
func showFIFO(q *FIFO) string {
	var groups []string
	q.All(func(group int, mode resource.Mode, id coherence.ID) bool {
		if group == len(groups) {
			groups = append(groups, mode.String())
		}
		groups[group] += fmt.Sprintf(" h%d", id)
		return true
	})
	if len(groups) == 0 {
		return "empty\n"
	}
	return strings.Join(groups, " | ") + "\n"
}

// checkFIFO checks the links of the whole queue.
func checkFIFO(t interface{ Fatalf(string, ...any) }, q *FIFO) {
	var seen []coherence.ID
	groups, before := 0, number(0)
	for n := q.queue.first; n != 0; n = q.requests[n].next {
		q.queue.check(q.requests, n)
		r, id := q.requests[n], q.ids[n]
		if r.prev != before || q.numbers[id] != n {
			t.Fatalf("request %d is out of place: %s", id, showFIFO(q))
		}
		if before == 0 || r.mode == resource.Write || q.requests[before].mode == resource.Write {
			groups++ // two writers are two groups, and adjacent readers are one
		}
		if r.granted != (groups == 1) {
			t.Fatalf("request %d of group %d is granted: %v: %s", id, groups, r.granted, showFIFO(q))
		}
		seen, before = append(seen, id), n
	}
	if q.queue.last != before || len(seen) != q.Len() {
		t.Fatalf("%d requests in a queue of %d: %s", len(seen), q.Len(), showFIFO(q))
	}
	if used := len(q.requests) - len(q.free) - 1; used != len(seen) && q.requests != nil {
		t.Fatalf("%d numbers are in use, for %d requests: %s", used, len(seen), showFIFO(q))
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != q.Len() {
		t.Fatalf("a request is there twice: %s", showFIFO(q))
	}
}
