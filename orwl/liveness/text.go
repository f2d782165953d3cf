package liveness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orwl/go-orwl/internal/excerpt"
	"github.com/orwl/go-orwl/resource"
)

// maxLine is the length of the longest line that Parse reads, in bytes.
const maxLine = 16 << 20

// Parse reads the description of a system, one task in each line:
//
//	# rows of a matrix
//	task row1: write a, read b
//	task row2: write b, read a @-1
//
// The tasks have the order of the lines. The number after @ is the priority of an
// access; the default is 0. A # begins a comment. A name with a space or one of
// : , @ # " is quoted as in Go.
//
// A second colon begins the Sequence of a task. Each step names the accesses by their
// numbers in the line, counted from 1:
//
//	task cell2: write own2, read own1 @1, read own3 @1: acquire 1, release 1, acquire 2 3, release 2 3
//
// Parse returns a [*SyntaxError] if it cannot read a line.
func Parse(r io.Reader) (System, error) {
	var s System
	named := make(map[string]int) // the line of each task
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine+1) // with the line's end
	number := 0
	for lines.Scan() {
		number++
		line := systemLine{text: lines.Text(), number: number}
		task, described, err := line.task(named)
		if err != nil {
			return System{}, err
		}
		if described {
			s.Tasks = append(s.Tasks, task)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return System{}, &SyntaxError{Line: number + 1, Reason: "the line is too long",
			Allowed: fmt.Sprintf("up to %d bytes", maxLine)}
	} else if err != nil {
		return System{}, fmt.Errorf("liveness: reading a system after line %d: %w", number, err)
	}
	return s, nil
}

// systemLine is a line and the reader's position in it.
type systemLine struct {
	text   string
	number int
	at     int // the first byte that has not been read
}

// task reads the line. described is false if the line is empty or a comment.
func (l *systemLine) task(named map[string]int) (task Task, described bool, err error) {
	word := l.next()
	if word == "" {
		return task, false, nil
	}
	if word != "task" {
		return task, false, l.fail(word, "a line begins with task", "task NAME: read RESOURCE, write RESOURCE; or a comment after #")
	}
	if task.Name, word, err = l.name("the task"); err != nil {
		return task, false, err
	}
	if before, twice := named[task.Name]; twice {
		return task, false, l.fail(word, fmt.Sprintf("line %d describes this task too", before), "a name that no other task has")
	}
	named[task.Name] = l.number
	if word = l.next(); word != ":" {
		return task, false, l.fail(word, "the task's name ends here", "a colon, and the task's accesses")
	}
	if word = l.next(); word == "" {
		return task, true, nil
	}
	for {
		access, err := l.access(word)
		if err != nil {
			return task, false, err
		}
		task.Accesses = append(task.Accesses, access)
		switch word = l.next(); word {
		case "":
			return task, true, nil
		case ",":
			word = l.next()
		case ":":
			task.Sequence, err = l.sequence(len(task.Accesses))
			return task, err == nil, err
		default:
			return task, false, l.fail(word, "the access ends here", "a comma and another access, @PRIORITY, a colon and the sequence, or the end of the line")
		}
	}
}

// access reads the rest of an access after its first word.
func (l *systemLine) access(mode string) (access Access, err error) {
	switch mode {
	case "read":
	case "write":
		access.Mode = resource.Write
	default:
		return access, l.fail(mode, "an access begins with what it does", "read or write")
	}
	if access.Resource, _, err = l.name("the resource"); err != nil {
		return access, err
	}
	after := *l
	if after.next() != "@" {
		return access, nil
	}
	*l = after
	word := l.next()
	if access.Priority, err = strconv.Atoi(word); err != nil {
		return access, l.fail(word, "@ is not followed by a priority", "a whole number, as in @-1")
	}
	return access, nil
}

// sequence reads the rest of a line after its second colon: the steps of a task with so
// many accesses.
func (l *systemLine) sequence(accesses int) (steps []Step, err error) {
	p := make(progress, accesses)
	for {
		step, word, err := l.step(p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if word == "," {
			continue
		}
		if a, reason := p.end(); a >= 0 {
			return nil, l.fail(word, fmt.Sprintf("access %d %s", a+1, reason), onceEach)
		}
		return steps, nil
	}
}

// step reads a step and the word after it: a comma, or nothing at the end of the line.
func (l *systemLine) step(p progress) (step Step, word string, err error) {
	switch word = l.next(); word {
	case "acquire":
	case "release":
		step.Op = Release
	default:
		return step, word, l.fail(word, "a step begins with what it does", "acquire or release")
	}
	for word = l.next(); word != "" && word != ","; word = l.next() {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || number > len(p) {
			return step, word, l.fail(word, "the task has no such access", fmt.Sprintf("a number from 1 to %d, a comma and another step, or the end of the line", len(p)))
		}
		if reason := p.take(step.Op, number-1); reason != "" {
			return step, word, l.fail(word, "access "+word+" "+reason, onceEach)
		}
		step.Accesses = append(step.Accesses, number-1)
	}
	if len(step.Accesses) == 0 {
		return step, word, l.fail(word, "the step names no access", fmt.Sprintf("numbers from 1 to %d", len(p)))
	}
	return step, word, nil
}

// name reads the name of a task or a resource. It returns the name, and the word as it
// is written.
func (l *systemLine) name(of string) (name, word string, err error) {
	word = l.next()
	name = word
	switch {
	case word == "" || isSystemMark(word):
		return "", word, l.fail(word, of+" has no name", "a name, quoted if it has spaces or any of "+systemMarks)
	case word[0] == '"':
		if name, err = strconv.Unquote(word); err != nil {
			return "", word, l.fail(word, "the quoted name is malformed", `a name quoted as in Go, such as "row 1"`)
		}
	case !utf8.ValidString(word):
		return "", word, l.fail(word, "the name is not in UTF-8", `UTF-8, or a quoted name, as in "\xff"`)
	}
	if name == "" {
		return "", word, l.fail(word, of+" has an empty name", "at least one character")
	}
	return name, word, nil
}

// systemMarks are the characters with a meaning of their own. They end a name.
const systemMarks = `: , @ # "`

func isSystemMark(word string) bool {
	return len(word) == 1 && strings.Contains(systemMarks, word) && word != `"`
}

// ends reports whether a character ends a name without quotes.
func ends(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(systemMarks, c) }

// next reads the next word: a mark or a name. It returns nothing at the end of the
// line or at a comment.
func (l *systemLine) next() string {
	rest := strings.TrimLeftFunc(l.text[l.at:], unicode.IsSpace)
	l.at = len(l.text) - len(rest)
	if rest == "" || rest[0] == '#' {
		return ""
	}
	word := rest
	switch end := strings.IndexFunc(rest, ends); {
	case rest[0] == '"':
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			word = quoted
		}
	case end == 0:
		word = rest[:1]
	case end > 0:
		word = rest[:end]
	}
	l.at += len(word)
	return word
}

// fail makes the error for the word that was read last.
func (l *systemLine) fail(word, reason, allowed string) error {
	return &SyntaxError{Line: l.number, Text: l.text, Offset: l.at - len(word), Word: word, Reason: reason, Allowed: allowed}
}

// String is the system as text that Parse reads.
func (s System) String() string {
	var text strings.Builder
	for _, task := range s.Tasks {
		text.WriteString("task " + spell(task.Name) + ":")
		for i, access := range task.Accesses {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(" " + access.String())
			if access.Priority != 0 {
				fmt.Fprintf(&text, " @%d", access.Priority)
			}
		}
		for i, step := range task.Sequence {
			text.WriteString([]string{":", ","}[min(i, 1)] + " " + step.Op.String())
			for _, a := range step.Accesses {
				fmt.Fprintf(&text, " %d", a+1)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// spell is a name as Parse reads it, quoted if necessary.
func spell(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || quoted[1:len(quoted)-1] != name || strings.ContainsFunc(name, ends) {
		return quoted
	}
	return name
}

// SyntaxError tells why Parse cannot read a description of a system. The message shows
// the line and points at the bad part:
//
//	liveness: line 2, column 12: an access begins with what it does
//		task row1: wriet a, read b
//		           ^~~~~
//		allowed: read or write
type SyntaxError struct {
	Line    int    // counted from 1
	Text    string // the whole line
	Offset  int    // where in Text the bad part begins, in bytes
	Word    string // the bad part; empty if something is missing
	Reason  string
	Allowed string // the text that Parse accepts there
}

// Column is the position of the bad part in the line, in characters, counted from 1.
func (e *SyntaxError) Column() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

func (e *SyntaxError) Error() string {
	line, mark := excerpt.Of(e.Text, e.Offset, e.Word)
	return fmt.Sprintf("liveness: line %d, column %d: %s\n\t%s\n\t%s\n\tallowed: %s", e.Line, e.Column(), e.Reason, line, mark, e.Allowed)
}
