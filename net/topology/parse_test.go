package topology

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/excerpt"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{ // the values are Strings
		"core:8":                        "core:8",
		"machine:1 core:8":              "core:8",
		"rack:2 node:4 socket:2 core:8": "rack:2 node:4 socket:2 core:8",
		"rack:2,node:4":                 "rack:2 node:4",
		" ,, rack:2 ,\t node:04 \n":     "rack:2 node:4",
		"node:1 socket:1 core:1":        "node:1 socket:1 core:1",
		"node:4 core:8*3+6":             "node:4 core:8*3+6",
		"node:4 core:8+8+8+6":           "node:4 core:8*3+6",
		"node:4 core:8*2+8*2":           "node:4 core:8",
		"node:3 core:1+2+1":             "node:3 core:1+2+1",
		"node:2 socket:2+1 core:4*2+8":  "node:2 socket:2+1 core:4*2+8",
		"rank:1048576":                  "rank:1048576",
		"rack:1024 rank:1024":           "rack:1024 rank:1024",
		"group:1 rack:1 node:1 socket:1 numa:1 cache:1 core:1 thread:1 rank:1": "group:1 rack:1 node:1 socket:1 numa:1 cache:1 core:1 thread:1 rank:1",
	} {
		tree, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if tree.String() != want {
			t.Errorf("%q is %q, want %q", text, tree, want)
		}
		checkInvariants(t, tree)
	}
}

const anyName = "machine, group, rack, node, socket, numa, cache, core, thread, rank"

func TestParseError(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"rack:2 noed:4 core:8", `unknown level "noed", did you mean "node"?
	rack:2 noed:4 core:8
	       ^~~~
	allowed: ` + anyName},
		{"Rack:2", `unknown level "Rack", did you mean "rack"?
	Rack:2
	^~~~
	allowed: ` + anyName},
		{"xyzzy:2", `unknown level "xyzzy"
	xyzzy:2
	^~~~~
	allowed: ` + anyName},
		{"4", `unknown level "4"
	4
	^
	allowed: ` + anyName},
		{"", `the description has no level below the machine
	
	^
	allowed: words such as node:4 core:8 (names: group, rack, node, socket, numa, cache, core, thread, rank)`},
		{"machine:1", `the description has no level below the machine
	machine:1
	         ^
	allowed: words such as node:4 core:8 (names: group, rack, node, socket, numa, cache, core, thread, rank)`},
		{"machine:2 core:8", `there is only one machine
	machine:2 core:8
	        ^
	allowed: machine:1, or no word for it`},
		{"machine:1 machine:1", `machine occurs twice
	machine:1 machine:1
	          ^~~~~~~
	allowed: group, rack, node, socket, numa, cache, core, thread, rank`},
		{"core:8 node:2", `node comes after core, but levels go from coarse to fine
	core:8 node:2
	       ^~~~
	allowed: thread, rank`},
		{"rank:8 core:2", `core comes after rank, but levels go from coarse to fine
	rank:8 core:2
	       ^~~~
	allowed: no further level: rank is the finest`},
		{"node:2,node:4", `node occurs twice
	node:2,node:4
	       ^~~~
	allowed: socket, numa, cache, core, thread, rank`},
		{"node core:4", `"node" has no count
	node core:4
	    ^
	allowed: node:COUNT, as in node:4`},
		{"node: 4", `"node" has no count
	node: 4
	     ^
	allowed: node:COUNT, as in node:4`},
		{"node:4\tcore:-1", `"-1" is not a count
	node:4 core:-1
	            ^~
	allowed: whole numbers from 1 to 1048576`},
		{"core:0", `"0" is not a count
	core:0
	     ^
	allowed: whole numbers from 1 to 1048576`},
		{"core:99999999999999999999999", `"99999999999999999999999" is not a count
	core:99999999999999999999999
	     ^~~~~~~~~~~~~~~~~~~~~~~
	allowed: whole numbers from 1 to 1048576`},
		{"rack:1024 node:1024 core:2", `this count makes the machine too large
	rack:1024 node:1024 core:2
	                         ^
	allowed: up to 1048576 ranks in all`},
		{"node:2 core:1048576+1", `this count makes the machine too large
	node:2 core:1048576+1
	                    ^
	allowed: up to 1048576 ranks in all`},
		{"node:3 core:8+6", `2 counts for the 3 elements of the level above
	node:3 core:8+6
	            ^~~
	allowed: 3 counts, or one for all`},
		{"node:3 core:8*2+6*2", `more counts than the 3 elements of the level above
	node:3 core:8*2+6*2
	                ^~~
	allowed: 3 counts, or one for all`},
		{"node:3 core:8*3+", `"" is not a count
	node:3 core:8*3+
	                ^
	allowed: whole numbers from 1 to 1048576`},
		{"node:3 core:8*x", `"x" is not a count
	node:3 core:8*x
	              ^
	allowed: whole numbers from 1 to 1048576`},
		{"nöde:3", `unknown level "nöde", did you mean "node"?
	nöde:3
	^~~~
	allowed: ` + anyName},
	} {
		tree, err := Parse(test.text)
		var bad *ParseError
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v and %v, want a *ParseError", test.text, tree, err)
			continue
		}
		if want := "topology: " + test.want; err.Error() != want {
			t.Errorf("%q gives\n%s\nwant\n%s", test.text, err, want)
		}
		if got := test.text[bad.Offset:][:len(bad.Word)]; got != bad.Word {
			t.Errorf("%q: word %q at %d, want %q", test.text, bad.Word, bad.Offset, got)
		}
	}
}

// A very long description must not fill the screen.
func TestParseErrorIsShort(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, text := range []string{long, "core:" + long, long + ":1", strings.Repeat(" ", 1<<16) + "noed:4" + strings.Repeat(" ", 1<<16)} {
		_, err := Parse(text)
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes", len(err.Error()))
		}
	}
}

func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawReference(t).tree(t)
		again, err := Parse(tree.String())
		if err != nil {
			t.Fatal(err)
		}
		if !tree.equal(again) || !again.equal(tree) {
			t.Fatalf("%s came back as %s", tree, again)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"rack:2 node:4 socket:2 core:8", "core:8", "machine:1,core:8", "node:4 core:8*3+6", "node:2 socket:2+1 core:4*2+8",
		"noed:4", "core:0", "node:1048576 core:2", "node:2 core:+", "core:\xff", "\u2003core:1\u3000", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse(text)
		if err != nil {
			checkPointsIntoText(t, text, err)
			return
		}
		ranks := d.words[len(d.words)-1].total
		if ranks < 1 || ranks > MaxRanks {
			t.Fatalf("%q has %d ranks", text, ranks)
		}
		if ranks > 1<<12 {
			return // keeps the fuzzer from spending its time on large trees
		}
		tree := mustParse(t, text)
		again, err := Parse(tree.String())
		if err != nil || !again.equal(tree) || again.String() != tree.String() {
			t.Fatalf("%q is %s, which comes back as %v with %v", text, tree, again, err)
		}
		checkInvariants(t, tree)
		_ = tree.Picture()
	})
}

func checkPointsIntoText(t *testing.T, text string, err error) {
	var bad *ParseError
	if !errors.As(err, &bad) || text[bad.Offset:][:len(bad.Word)] != bad.Word {
		t.Fatalf("%q: %#v", text, err)
	}
	line, mark := excerpt.Of(bad.Text, bad.Offset, bad.Word)
	if strings.ContainsAny(line, "\n\t\r") || len([]rune(mark)) > len([]rune(line))+1 {
		t.Fatalf("%q: the mark does not point into the text:\n%s\n%s", text, line, mark)
	}
	if bad.Reason == "" || bad.Allowed == "" {
		t.Fatalf("%q: %#v lacks a reason or the alternatives", text, bad)
	}
}

func TestNearestName(t *testing.T) {
	for name, want := range map[string]string{
		"soket": "socket", "sockets": "socket", "nmua": "numa", "RACK": "rack", "cores": "core", "threads": "thread",
		"maschine": "machine", "grp": "group", "": "", "q": "", fmt.Sprintf("%01000d", 0): "",
	} {
		if got := nearestName(name); got != want {
			t.Errorf("nearest to %.20q is %q, want %q", name, got, want)
		}
	}
}
