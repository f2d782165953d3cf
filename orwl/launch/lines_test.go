package launch

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a\n", "[7] a\n"},
		{"a\nb", "[7] a\n[7] b\n"},
		{"\n\na\r\n", "[7] \n[7] \n[7] a\r\n"},
		{long + "\n", "[7] " + long + "\n[7] \n"},
		{long[1:] + "\n", "[7] " + long[1:] + "\n"},
		{"a\n" + long + "y", "[7] a\n[7] " + long + "\n[7] y\n"},
	} {
		var mu sync.Mutex
		for _, chunk := range []int{1, 3, 1 << 20} {
			var out bytes.Buffer
			l := new(Run).lines(&mu, &out, 7)
			for text := c.text; text != ""; {
				n := min(chunk, len(text))
				if wrote, err := l.Write([]byte(text[:n])); wrote != n || err != nil {
					t.Fatalf("%d, %v", wrote, err)
				}
				text = text[n:]
			}
			if err := l.flush(); err != nil || out.String() != c.want {
				t.Errorf("%.20q in pieces of %d: %v: %.80q, want %.80q", c.text, chunk, err, out.String(), c.want)
			}
		}
	}
}

// The reader of the nodes' lines may be gone.
func TestLinesFail(t *testing.T) {
	var mu sync.Mutex
	l := new(Run).lines(&mu, failing{}, 0)
	if _, err := l.Write([]byte("a\n")); !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
	l = new(Run).lines(&mu, failing{}, 0)
	if _, err := l.Write([]byte("a")); err != nil {
		t.Error(err)
	}
	if err := l.flush(); !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }

func TestProgressLine(t *testing.T) {
	for _, p := range []Progress{{"sweeping", 3, 7}, {"two words", 0, 1}, {"", 1 << 60, 1 << 61}} {
		if node, got, ok := parseProgress(p.line(5)); node != 5 || got != p || !ok {
			t.Errorf("%q is read as node %d, %+v, %v", p.line(5), node, got, ok)
		}
	}
	if got, want := (Progress{"two\nlines", 1, 2}).line(0), "progress 0 1 2 two lines"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
	for _, line := range []string{"", "127.0.0.1:80", "go on", "progress ", "progress 1 2 3", "progress -1 2 3 x", "progress 1 -2 3 x", "progress 1 2 0 x",
		"progress 1 x 3 x", "progress 1 2 99999999999999999999 x"} {
		if node, p, ok := parseProgress(line); ok {
			t.Errorf("%q is read as node %d, %+v", line, node, p)
		}
	}
}
