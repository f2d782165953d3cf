package launch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// longestLine is where a line without an end is broken.
const longestLine = 64 << 10

// mark is before a report, which may come between a node's lines.
const mark = "\x00orwl:"

// lines writes what it gets to another writer line by line, each behind a prefix if
// there is one. A line is one Write, under a mutex that all nodes share.
type lines struct {
	mu      *sync.Mutex
	to      io.Writer
	prefix  []byte
	rest    []byte       // the beginning of a line that has not ended
	reports func(string) // nil, or takes lines that are reports and no output
}

// lines are a node's lines for one of the run's writers.
func (r *Run) lines(mu *sync.Mutex, to io.Writer, node int) *lines {
	l := &lines{mu: mu, to: to}
	switch {
	case node == 0 && r.Plain:
	case r.Hosts != nil:
		l.prefix = fmt.Appendf(nil, "[%d %s] ", node, r.host(node))
	default:
		l.prefix = fmt.Appendf(nil, "[%d] ", node)
	}
	return l
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	done := 0
	for {
		line := l.rest[done:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 && end < longestLine {
			line = line[:end]
			done++
		} else if len(line) >= longestLine {
			line = line[:longestLine]
		} else {
			break
		}
		done += len(line)
		if err := l.line(line); err != nil {
			return 0, err
		}
	}
	l.rest = append(l.rest[:0], l.rest[done:]...)
	return len(p), nil
}

// flush ends a line that its writer has not.
func (l *lines) flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	last := l.rest
	l.rest = nil
	return l.line(last)
}

func (l *lines) line(text []byte) error {
	if l.reports != nil {
		before, report, is := bytes.Cut(text, []byte(mark))
		if is {
			l.reports(string(report))
		}
		if is && len(before) == 0 {
			return nil
		}
		text = before // the program had not ended its line
	}
	whole := make([]byte, 0, len(l.prefix)+len(text)+1)
	whole = append(append(append(whole, l.prefix...), text...), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.to.Write(whole)
	return err
}

// Progress is how far a node is with something.
type Progress struct {
	What        string // such as sweeping; one line
	Done, Total int64
}

// A line says it: the word, the number of the node, how much is done, of how much, and of what.
const progressWord = "progress "

func (p Progress) line(node int) string {
	return fmt.Sprintf("%s%d %d %d %s", progressWord, node, p.Done, p.Total, strings.ReplaceAll(p.What, "\n", " "))
}

// parseProgress reads such a line. It is false if there is something else in it, or less.
func parseProgress(line string) (node int, p Progress, ok bool) {
	text, found := strings.CutPrefix(line, progressWord)
	if n, err := fmt.Sscanf(text, "%d %d %d", &node, &p.Done, &p.Total); !found || err != nil || n < 3 {
		return 0, Progress{}, false
	}
	fields := strings.SplitN(text, " ", 4)
	if len(fields) < 4 || node < 0 || p.Done < 0 || p.Total < 1 {
		return 0, Progress{}, false
	}
	p.What = fields[3]
	return node, p, true
}
