package orwl_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWirePage compares the page with the code: versions, limits, and each kind, reason, state and
// field, so that a new one needs its place on the page.
func TestWirePage(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	code := wireCode{packages: make(map[string]wirePackage), protocols: protocols(t)}
	for _, fault := range wireFaults(t, code, string(text)) {
		t.Error(fault)
	}
	for from, to := range map[string]string{
		"| 8 | loan |": "| 8 | lend |", "| 18 | put-bytes |": "| 20 | put-bytes |", "11, 12 | accumulate": "11, 13 | accumulate",
		"4 broken": "9 broken", ", 4 closed": "", "6 join": "7 join", "3 ended": "3 over",
		"1,048,576": "1,048,577", "| 7, 8, 9 | grant": "| 7, 8, 10 | grant", "with version 5": "with version 6",
		"16 bytes are there": "64 bytes are there", "frame | 1 MiB": "frame | 2 MiB", "| 10 s |": "| 9 s |", "16th": "17th",
		"/orwl/join/1": "/orwl/join/2", "`mapped`, `promises`": "`mapped`", "known, size": "size",
		"| 2 | failure of a node": "| 3 | failure of a node", "`lease`, `skew`": "`lease`", "`gone`": "`away`",
	} {
		if changed := strings.Replace(string(text), from, to, 1); changed == string(text) || len(wireFaults(t, code, changed)) == 0 {
			t.Errorf("%q instead of %q is not noticed", to, from)
		}
	}
}

// wireLists are the lists of numbers with names. They have all constants of a type.
var wireLists = []struct{ dir, of, from, to string }{
	{"net/wire", "Kind", "## Kinds", "Kinds 10 to 19"},
	{"net/wire", "Status", "A reply's status is", "."},
	{"internal/queue/coherence", "Kind", "| kind | name | from |", "Bits:"},
	{"internal/queue/coherence", "Reason", "Reasons:", "."},
	{"net/p2p/internal/membership", "Kind", "A change has the kind", "."},
	{"net/p2p/internal/membership", "State", "`state` (", ")"},
}

// wireNumbers are texts with a number, N, and the constant.
var wireNumbers = []struct{ says, dir, name string }{
	{"with version N.", "net/wire", "Version"},
	{"Each has `version` (N)", "net/p2p/internal/control", "Version"},
	{"Those of channels 2, 5 and 7\nhave version N.", "orwl/internal/message", "Version"},
	{"length of the array, 4 to N |", "net/wire", "MaxHeader"},
	{"| header of a frame | N |", "net/wire", "MaxHeader"},
	{"| bulk of a frame | N |", "net/wire", "MaxBulk"},
	{"| a text: an address, a reason | N bytes |", "net/wire", "MaxText"},
	{"XXH3 of each piece of N,", "net/wire", "Piece"},
	{"bulk gets N at first", "net/wire", "firstGrowth"},
	{"has at most N |", "net/engine", "copied"},
	{"| ids of one grant | N |", "internal/queue/coherence", "mostIDs"},
	{"Bits: N write,", "internal/queue/coherence", "Write"},
	{" N bytes were written,", "internal/queue/coherence", "bitWrote"},
	{" N bytes are there.", "internal/queue/coherence", "bitWhole"},
	{"not open yet | N from", "net/p2p", "mostHeld"},
	{"before their hello | N |", "net/p2p", "mostPending"},
	{"| time for a hello | N |", "net/p2p", "helloTimeout"},
	{"| the Nth stream that", "net/p2p", "mostFaults"},
	{"| N | control message", "net/p2p", "ownChannel"},
	{"| N | message of a resource", "orwl", "resourceChannel"},
	{"| N | failure of a node", "orwl", "runChannel"},
}

// wireMaps are the fields of maps, and the struct that has them.
var wireMaps = []struct{ dir, of, from, to string }{
	{"net/wire", "Hello", "The map has", "."},
	{"net/p2p/internal/membership", "Message", "| `change` | `epoch` |", "|"},
	{"net/p2p/internal/membership", "Ballot", "A ballot is", "."},
	{"net/p2p/internal/membership", "Seat", "A seat is", ", the epoch"},
	{"net/p2p/internal/control", "Change", "| `change` |", "|"},
	{"net/p2p/internal/control", "Gathering", "| `give` |", "|"},
	{"net/p2p/internal/control", "Arena", "| `arena` |", "|"},
	{"net/p2p/internal/control", "Mapped", "| `mapped` |", "|"},
	{"orwl/internal/message", "failure", "failure of a node, a map:", "|"},
}

var (
	wireNumber = `([0-9,]+(?: [KMG]iB| s)?)`
	quoted     = regexp.MustCompile("`([a-z]+)`")
	protocol   = regexp.MustCompile(`/orwl/[a-z]+/[0-9]`)
)

// wireFaults are the differences of a page from the code.
func wireFaults(t *testing.T, code wireCode, page string) (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	part := func(from, to string) string {
		_, text, found := strings.Cut(page, from)
		text, _, ends := strings.Cut(text, to)
		if !found || !ends {
			fault("there is no text from %q to %q", from, to)
		}
		return text
	}
	for _, l := range wireLists {
		if says, is := listed(part(l.from, l.to)), code.of(t, l.dir).named(l.of); !slices.Equal(says, is) {
			fault("%s.%s: the page says %q, and the code %q", l.dir, l.of, says, is)
		}
	}
	for _, n := range wireNumbers {
		pattern := strings.Replace(regexp.QuoteMeta(n.says), "N", wireNumber, 1)
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if is := code.of(t, n.dir).value(n.name); m == nil || quantity(t, m[1]) != is {
			fault("%s of %s is %s, and the page says %q", n.name, n.dir, is, m)
		}
	}
	for _, l := range wireMaps {
		var says []string
		for _, m := range quoted.FindAllStringSubmatch(part(l.from, l.to), -1) {
			says = append(says, m[1])
		}
		if is := code.of(t, l.dir).tags(l.of); !slices.Equal(unique(says), is) {
			fault("%s.%s: the page has the fields %q, and the code %q", l.dir, l.of, unique(says), is)
		}
	}
	if says, is := unique(protocol.FindAllString(page, -1)), code.protocols; !slices.Equal(says, is) {
		fault("the page has the protocols %q, and the code %q", says, is)
	}
	words := strings.Split(part("| 9 each | resource,", " |"), ",")
	if is := code.of(t, "internal/queue/coherence").value("headerWords"); fmt.Sprint(len(words)+1) != is {
		fault("the page has %d integers in a header, and headerWords is %s", len(words)+1, is)
	}
	return faults
}

var wireRow = regexp.MustCompile(`(?m)^\| ([0-9, ]+) \| ([^|]+) \|`)

// listed are the numbers with their names, such as "3 ack", of a table's rows or of a sentence.
func listed(part string) (all []string) {
	rows := wireRow.FindAllStringSubmatch(part, -1)
	for _, row := range rows {
		names := strings.Split(row[2], ", ")
		for i, number := range strings.Split(row[1], ", ") {
			all = append(all, number+" "+names[min(i, len(names)-1)])
		}
	}
	if rows == nil {
		all = strings.Split(strings.Join(strings.Fields(strings.ReplaceAll(part, " or ", ", ")), " "), ", ")
	}
	return all
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// protocols are the names of streams in the code.
func protocols(t *testing.T) (all []string) {
	err := filepath.WalkDir("../net/p2p", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, protocol.FindAllString(string(text), -1)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return unique(all)
}
