package launch

import "testing"

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
