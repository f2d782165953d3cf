package prose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pages"
)

// TestPages reads all pages.
func TestPages(t *testing.T) {
	all, err := pages.Of("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("only %d pages are found", len(all))
	}
	for _, page := range all {
		short := strings.TrimPrefix(filepath.ToSlash(page), "../../")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Check(string(text)) {
			t.Errorf("%s:%d: %s\n\t%s", short, f.Line, f.Why, f.Sentence)
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
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(string(text))); n > mostOfHowTo {
			t.Errorf("%s has %d words, want at most %d", filepath.Base(page), n, mostOfHowTo)
		}
	}
}

// TestCanary plants each fault, and sentences that are good.
func TestCanary(t *testing.T) {
	long := "One " + strings.Repeat("word ", MostWords-1) + "more."
	part := strings.Repeat("word ", MostWhole/2-1) + "more"
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
		"One " + strings.Repeat("word ", MostWords-2) + "more.":      0,
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
		if got := Check(page); len(got) != want {
			t.Errorf("%q: %v, want %d faults", page, got, want)
		}
	}
	if f := Check("Good.\n\nAlso\ngood. It is to be bad."); len(f) != 1 || f[0].Line != 3 || f[0].Sentence != "It is to be bad." {
		t.Errorf("a fault is shown as %v", f)
	}
	if f := Check("Good:\n- Good.\n- " + part + ";\n- " + part + ";\n- good."); len(f) != 1 || f[0].Line != 3 || !strings.HasSuffix(f[0].Sentence, "more; good.") {
		t.Errorf("a fault in a list is shown as %v", f)
	}
}
