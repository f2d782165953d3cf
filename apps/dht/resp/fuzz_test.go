package resp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/redcon"
)

func seeds() [][]byte {
	all := [][]byte{conversation(), []byte("*1\r\n$4\r\nPING\r\n"), []byte("PING\r\n"), []byte("set a 'b\\'c'\n"), []byte("\"\\x41\\n\" x\r\n")}
	for _, row := range wrongs {
		if len(row.sent) < 1<<12 {
			all = append(all, []byte(row.sent))
		}
	}
	return all
}

// FuzzFace says anything to a server, whole and in pieces. It answers the same, and
// takes no more memory than it may.
func FuzzFace(f *testing.F) {
	for i, text := range seeds() {
		f.Add(text, uint64(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, secret bool) {
		o := Options{Bulk: 1 << 10, Request: 4 << 10, Reply: 4 << 10}
		if secret {
			o.Password = "x"
		}
		whole := heard(t, o, bytes.Clone(text))
		random := rand.New(rand.NewPCG(seed, 0))
		if got := heard(t, o, cut(bytes.Clone(text), random.IntN)...); got != whole {
			t.Fatalf("%q is answered with %q in pieces, with %q whole", text, got, whole)
		}
	})
}

// FuzzReader holds the reader against redcon's, for the commands that it accepts.
func FuzzReader(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newReader(bytes.NewReader(text), nil, limits{bulk: 1 << 20, request: 1 << 24})
		for moved, at := 0, 0; ; {
			args, err := r.next()
			switch {
			case err != nil:
				return
			case args != nil:
				compare(t, text[at:moved+r.start], args)
				at = moved + r.start
				continue
			}
			moved += r.start // to the beginning of the buffer
			if r.fill() != nil {
				return
			}
		}
	})
}

// compare reads the bytes of a command with redcon. Empty commands come before it.
func compare(t *testing.T, raw []byte, args [][]byte) {
	t.Helper()
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		count, counted := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\r")), []byte("*"))
		if n, ok := integer(count); len(bytes.Trim(line, " \t\v\f\r")) > 0 && (!counted || !ok || n > 0) {
			break
		}
		raw = rest
	}
	if len(raw) == 0 {
		t.Fatalf("%q is a command and there is nothing", args)
	}
	if raw[0] != '*' {
		return // redcon has other quotes
	}
	complete, theirs, _, rest, err := redcon.ReadNextCommand(raw, nil)
	if !complete || err != nil || len(rest) != 0 || !slices.EqualFunc(args, theirs, bytes.Equal) {
		t.Fatalf("%q is read as %q, by redcon as %q, %v", raw, args, theirs, err)
	}
}

// FuzzGlob holds patterns against a matcher that tries everything.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"*", "a*b", "[a-c]?", "[^x]*", "\\*", "[]", "[a", "**a", "[z-a]", "[\\]]", "a\\"} {
		f.Add(p, "abc")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 12 || len(name) > 12 {
			return
		}
		if got, want := glob(pattern).matches([]byte(name)), slowGlob(pattern, name); got != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
	})
}

func slowGlob(p, name string) bool {
	switch {
	case p == "":
		return name == ""
	case p[0] == '*':
		return slowGlob(p[1:], name) || name != "" && slowGlob(p, name[1:])
	case name == "":
		return false
	case p[0] == '[':
		inside, rest := p[1:], ""
		not := strings.HasPrefix(inside, "^")
		if not {
			inside = inside[1:]
		}
		var members []byte
		for inside != "" && inside[0] != ']' {
			low, n := inside[0], 1
			switch {
			case low == '\\' && len(inside) > 1:
				low, n = inside[1], 2
				members = append(members, low)
			case len(inside) > 2 && inside[1] == '-':
				n = 3
				for c := int(min(low, inside[2])); c <= int(max(low, inside[2])); c++ {
					members = append(members, byte(c))
				}
			default:
				members = append(members, low)
			}
			inside = inside[n:]
		}
		rest = strings.TrimPrefix(inside, "]")
		return slices.Contains(members, name[0]) != not && slowGlob(rest, name[1:])
	case p[0] == '\\' && len(p) > 1:
		return p[1] == name[0] && slowGlob(p[2:], name[1:])
	}
	return (p[0] == '?' || p[0] == name[0]) && slowGlob(p[1:], name[1:])
}
