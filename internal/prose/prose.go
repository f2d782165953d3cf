package prose

import (
	"fmt"
	"regexp"
	"strings"
)

// MostWords is the longest part of a sentence. A colon or a semicolon ends a part.
// MostWhole is the longest sentence with all its parts: it goes on through the items of a list that
// end with a semicolon or a comma.
const (
	MostWords = 30
	MostWhole = 40
)

// Fault is a sentence that should be written anew.
type Fault struct {
	Line     int // where its paragraph begins
	Sentence string
	Why      string
}

// habits are turns of phrase, and what to write instead.
var habits = []struct {
	is      *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b[Ii]n vain\b`), "say what happens"},
	{regexp.MustCompile(`\b(?:is|are|was|were) to be\b`), "say who does it, and use must or will"},
	{regexp.MustCompile(`\b(?:of|to|with) (?:which|whom)\b`), "begin another sentence"},
	{regexp.MustCompile(`(?:^|[^h]) other than\b`), "say which, or write except"},
	{regexp.MustCompile(`\b[Ww]hoever\b`), "name the subject"},
	{regexp.MustCompile(`^Who [a-z]+ |^That (?:the|a|an|it|they|one|nobody|each|every|all) `), "begin with the subject"},
}

var (
	code    = regexp.MustCompile("`[^`]*`")
	link    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	item    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	part    = regexp.MustCompile(`[.!?:;][)"'*]*\s+`)
	whole   = regexp.MustCompile(`[.!?][)"'*]*\s+`)
	goingOn = regexp.MustCompile(`[;,]$`)
)

// Check finds the faults of a page.
func Check(page string) (faults []Fault) {
	begun := paragraph{} // a sentence that the next item of a list goes on with
	for _, p := range paragraphs(page) {
		text := link.ReplaceAllString(code.ReplaceAllString(p.text, "X"), "$1")
		for _, s := range split(text, part) {
			if n := len(strings.Fields(s)); n > MostWords {
				faults = append(faults, Fault{p.line, s, fmt.Sprintf("a part has %d words, want at most %d", n, MostWords)})
			}
			for _, h := range habits {
				if found := h.is.FindString(s); found != "" {
					faults = append(faults, Fault{p.line, s, fmt.Sprintf("%q: %s", strings.TrimSpace(found), h.instead)})
				}
			}
		}
		for _, s := range split(text, whole) {
			if begun.text == "" {
				begun.line = p.line
			}
			begun.text = strings.TrimSpace(begun.text + " " + s)
			if goingOn.MatchString(s) {
				continue
			}
			if n := len(strings.Fields(begun.text)); n > MostWhole {
				faults = append(faults, Fault{begun.line, begun.text, fmt.Sprintf("it has %d words, want at most %d", n, MostWhole)})
			}
			begun = paragraph{}
		}
	}
	return faults
}

// split cuts a text behind each end.
func split(text string, end *regexp.Regexp) (all []string) {
	for {
		at := end.FindStringIndex(text)
		if at == nil {
			break
		}
		all, text = append(all, strings.TrimSpace(text[:at[1]])), text[at[1]:]
	}
	if text != "" {
		all = append(all, text)
	}
	return all
}

// paragraph is text that stands together.
type paragraph struct {
	line int
	text string
}

func paragraphs(page string) (all []paragraph) {
	var now paragraph
	end := func() {
		if now.text != "" {
			all = append(all, now)
		}
		now = paragraph{}
	}
	fenced := false
	number := 0
	for line := range strings.Lines(page) {
		number++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			end()
			continue
		}
		if fenced || line == "" || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.ContainsAny(line[:1], "#|<") {
			end()
			continue
		}
		if mark := item.FindString(line); mark != "" {
			end()
			line = line[len(mark):]
		}
		if now.text == "" {
			now.line = number
		}
		now.text = strings.TrimSpace(now.text + " " + strings.TrimSpace(line))
	}
	end()
	return all
}
