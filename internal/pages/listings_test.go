package pages

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// The listings of the pages are run as they are printed. A page fences its Go by
//
//	```go
//
// and a listing is a whole program, or the body of a func(ctx context.Context) error that
// may call must. It ends with a comment of what it prints, like an example of package
// testing. A listing of a doc.go is any code block in which Go calls something. A listing
// that needs more than one process says so by its fence, and is compiled only:
//
//	```go not run: needs three nodes
//
// A listing that is a part of a program in this repository names its file. It must stand there,
// and a test of that program runs it:
//
//	```go from examples/heat/main.go
//
// All listings are one program. It is built once, and runs once for each listing.

// notRun is the number of listings that are compiled only. Each of them can rot: raise
// it only for a listing that no test can run.
const notRun = 0

// TestListings builds and runs every Go listing of the pages.
func TestListings(t *testing.T) {
	rings.Needs(t, rings.Change)
	var all []listing
	skipped := 0
	for _, page := range withListings(t) {
		found, err := listings(page, read(t, page))
		if err != nil {
			t.Error(err)
		}
		for _, l := range found {
			if l.from == "" {
				all = append(all, l)
			} else if err := l.excerpt(modules[0]); err != nil {
				t.Error(err)
			}
		}
	}
	program := build(t, all)
	for i, l := range all {
		if l.reason != "" {
			skipped++
			t.Logf("%s is compiled only: %s", l.at(), l.reason)
			continue
		}
		t.Run(l.at(), func(t *testing.T) {
			run := exec.CommandContext(t.Context(), program)
			run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", listingVariable, i))
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := l.check(string(out)); err != nil {
				t.Error(err)
			}
		})
	}
	if skipped != notRun {
		t.Errorf("%d listings are compiled only, notRun is %d", skipped, notRun)
	}
}

// withListings are the files that have listings: the pages of the library, and the comments of some packages.
func withListings(t *testing.T) (all []string) {
	all = named(t, modules[0], ".md")
	for _, folder := range []string{"orwl", "orwl/liveness", "orwl/session", "orwl/stencil", "orwl/stencil/picture", "orwl/trace", "handle",
		"resource", "locks", "locks/lockers", "metrics", "net/mem", "net/topology"} {
		all = append(all, modules[0]+"/"+folder+"/doc.go")
	}
	return all
}

// listing is Go code of a page.
type listing struct {
	page   string
	line   int // of its first line
	code   string
	reason string // why it is compiled only
	from   string // the file that it is a part of
}

// at is the position of the listing.
func (l listing) at() string { return fmt.Sprintf("%s:%d", filepath.ToSlash(l.page), l.line) }

// listings finds the Go code of a page. An error names code that no test would run.
func listings(page, text string) ([]listing, error) {
	find := blocks
	if strings.HasSuffix(page, ".go") {
		find = comments
	}
	var all []listing
	var errs []error
	for _, b := range find(text) {
		l := listing{page: page, line: b.line, code: b.code}
		language, rest, _ := strings.Cut(b.fence, " ")
		reason, compiled := strings.CutPrefix(rest, "not run: ")
		from, part := strings.CutPrefix(rest, "from ")
		switch {
		case language != "go" && (language != "" || !calls.MatchString(b.code)):
			continue // another language: text, console
		case language != "go":
			errs = append(errs, fmt.Errorf("%s is Go without a fence: put it between ```go and ```", l.at()))
		case compiled:
			l.reason = reason
		case part:
			l.from = from
		case rest != "":
			errs = append(errs, fmt.Errorf("%s has the fence %q: want go, go from FILE, or go not run: and a reason", l.at(), b.fence))
		case !strings.Contains(b.code, outputMark):
			errs = append(errs, fmt.Errorf("%s shows no output: end it with %s and what it prints", l.at(), strings.TrimSpace(outputMark)))
		}
		all = append(all, l)
	}
	return all, errors.Join(errs...)
}

// outputMark begins the comment with the output of a listing.
const outputMark = "// Output:\n"

// check compares the output of the listing with its comment.
func (l listing) check(got string) error {
	_, shown, _ := strings.Cut(l.code, outputMark)
	var want []string
	for line := range strings.Lines(shown) {
		text, comment := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !comment {
			break
		}
		want = append(want, strings.TrimSpace(text))
	}
	if got := trimmed(got); got != strings.Join(want, "\n") {
		return fmt.Errorf("%s prints\n%s\nand shows\n%s", l.at(), got, strings.Join(want, "\n"))
	}
	return nil
}

// trimmed is text without the space around its lines.
func trimmed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// listingVariable says which listing the program runs.
const listingVariable = "ORWL_LISTING"

// build makes one program of all listings, and returns its path.
func build(t *testing.T, all []listing) string {
	t.Helper()
	dir := t.TempDir()
	var table strings.Builder
	program := filepath.Join(dir, "listings.exe")
	command := []string{"build", "-o", program, filepath.Join(dir, "main.go")}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, l := range all {
		text, err := l.source(i)
		if err != nil {
			t.Fatal(err)
		}
		command = append(command, write("listing"+strconv.Itoa(i)+".go", text))
		fmt.Fprintf(&table, "\t%q: listing%d,\n", strconv.Itoa(i), i)
	}
	write("main.go", fmt.Sprintf(mainText, table.String(), listingVariable))
	gotool := exec.CommandContext(t.Context(), "go", command...)
	gotool.Dir = modules[0] // the module's, whose packages the listings import
	if out, err := gotool.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// mainText is the code that the listings share.
const mainText = `package main

import (
	"context"
	"log"
	"os"
)

var listings = map[string]func(context.Context) error{
%s}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() { must(listings[os.Getenv(%q)](context.Background())) }
`
