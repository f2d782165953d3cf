package pages

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostWords is the longest part of a sentence. A colon or a semicolon ends a part.
// mostWhole is the longest sentence with all its parts: it goes on through the items of a list that
// end with a semicolon or a comma.
const (
	mostWords = 30
	mostWhole = 40
)

// fault is a sentence that should be written anew.
type fault struct {
	line     int // where its paragraph begins
	sentence string
	why      string
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

// faultsOf finds the faults of a page.
func faultsOf(page string) (faults []fault) {
	begun := paragraph{} // a sentence that the next item of a list goes on with
	for _, p := range paragraphs(page) {
		text := link.ReplaceAllString(code.ReplaceAllString(p.text, "X"), "$1")
		for _, s := range split(text, part) {
			if n := len(strings.Fields(s)); n > mostWords {
				faults = append(faults, fault{p.line, s, fmt.Sprintf("a part has %d words, want at most %d", n, mostWords)})
			}
			for _, h := range habits {
				if found := h.is.FindString(s); found != "" {
					faults = append(faults, fault{p.line, s, fmt.Sprintf("%q: %s", strings.TrimSpace(found), h.instead)})
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
			if n := len(strings.Fields(begun.text)); n > mostWhole {
				faults = append(faults, fault{begun.line, begun.text, fmt.Sprintf("it has %d words, want at most %d", n, mostWhole)})
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

// TestProse reads the sentences of all pages.
func TestProse(t *testing.T) {
	for _, page := range everyPage(t) {
		for _, f := range faultsOf(read(t, page)) {
			t.Errorf("%s:%d: %s\n\t%s", page, f.line, f.why, f.sentence)
		}
	}
}

// mostOfHowTo is how many words a page of docs/howto has, listings included: it answers one question.
const mostOfHowTo = 400

// TestHowToIsShort counts the words of pages that people open in the middle of something else.
func TestHowToIsShort(t *testing.T) {
	pages, err := filepath.Glob("../../docs/howto/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	for _, page := range pages {
		if n := len(strings.Fields(read(t, page))); n > mostOfHowTo {
			t.Errorf("%s has %d words, want at most %d", filepath.Base(page), n, mostOfHowTo)
		}
	}
}

// TestProseRefuses plants each fault, and sentences that are good.
func TestProseRefuses(t *testing.T) {
	long := "One " + strings.Repeat("word ", mostWords-1) + "more."
	part := strings.Repeat("word ", mostWhole/2-1) + "more"
	for page, want := range map[string]int{
		long:                     1,
		"# Heading\n\n- " + long: 1,
		"- " + part + ";\n- " + part + ";\n- " + part + ".":   1,
		"- " + part + ",\n\n- " + part + ";\n- " + part:       1,
		"It is so: " + part + "; " + part + ": " + part + ".": 1,
		"They wait in vain.":                                         1,
		"The word is to be read.":                                    1,
		"The lock, of which there are two.":                          1,
		"A rank other than the home.":                                1,
		"Whoever changes a word calls wake.":                         1,
		"Good. Who has the lock releases it.":                        1,
		"That the lock is free, it knows.":                           1,
		"One " + strings.Repeat("word ", mostWords-2) + "more.":      0,
		"- " + part + ".\n- " + part + "\n- " + part:                 0,
		"So: " + part + "; " + part[5:] + ".":                        0,
		"Short: " + long[:60] + ". " + long[:60] + ".":               0,
		"```\n" + long + "\n```\n":                                   0,
		"    " + long:                                                0,
		"| " + long + " |":                                           0,
		"# " + long:                                                  0,
		"Say `in vain` or [a page](is to be.md).":                    0,
		"The task who waits. That is all. They need each other than": 0,
	} {
		if got := faultsOf(page); len(got) != want {
			t.Errorf("%q: %v, want %d faults", page, got, want)
		}
	}
	if f := faultsOf("Good.\n\nAlso\ngood. It is to be bad."); len(f) != 1 || f[0].line != 3 || f[0].sentence != "It is to be bad." {
		t.Errorf("a fault is shown as %v", f)
	}
	if f := faultsOf("Good:\n- Good.\n- " + part + ";\n- " + part + ";\n- good."); len(f) != 1 || f[0].line != 3 || !strings.HasSuffix(f[0].sentence, "more; good.") {
		t.Errorf("a fault in a list is shown as %v", f)
	}
}
