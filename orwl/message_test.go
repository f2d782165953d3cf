package orwl

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pack"
)

// A failure is read as it was told, and nothing else is.
func TestFailureCodec(t *testing.T) {
	for _, e := range []NodeError{{2, "", false}, {0, "boom", true}, {1, strings.Repeat("x", mostText), false}} {
		b := e.encode()
		got, err := parseFailure(b, 3)
		if err != nil || *got != e {
			t.Errorf("%v, %v, want %v", got, err, e)
		}
		for cut := range min(len(b), 100) {
			if _, err := parseFailure(b[:cut], 3); err == nil {
				t.Errorf("the first %d bytes of %d are read", cut, len(b))
			}
		}
		if _, err := parseFailure(append(b, 0), 3); err == nil {
			t.Error("one byte more is read")
		}
	}
	if _, err := parseFailure((&NodeError{Node: 3}).encode(), 3); err == nil {
		t.Error("a node that is not there is read")
	}
	other := failure{Version: messageVersion + 1}
	if _, err := parseFailure(pack.Encode(&other), 3); err == nil {
		t.Error("another version is read")
	}
	long := NodeError{Text: strings.Repeat("x", 2*mostText)}
	if got, err := parseFailure(long.encode(), 3); err != nil || len(got.Text) != mostText {
		t.Errorf("a long text: %v", err)
	}
}

// TestSameProgram compares a program with itself, with another, and with what is none.
func TestSameProgram(t *testing.T) {
	mine := declared{messageVersion, []byte{1, 2}}
	for _, c := range []struct {
		said []byte
		want string
		bad  bool
	}{
		{pack.Encode(&mine), "", false},
		{pack.Encode(&declared{messageVersion, []byte{1, 3}}), "another program", false},
		{pack.Encode(&declared{messageVersion + 1, []byte{1, 2}}), "another build", false},
		{[]byte{1, 2}, "", true},
	} {
		why, err := mine.differs(c.said)
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) || (err != nil) != c.bad {
			t.Errorf("%x: %q, %v, want %q", c.said, why, err, c.want)
		}
	}
}

// FuzzFailure reads anything as a failure. What can be read is the same when it is written and
// read again.
func FuzzFailure(f *testing.F) {
	f.Add((&NodeError{Node: 2, Text: "boom", Lost: true}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseFailure(b, 3)
		if err != nil || len(e.Text) > mostText {
			return
		}
		if again, err := parseFailure(e.encode(), 3); err != nil || *again != *e {
			t.Errorf("%v is read as %v, %v", e, again, err)
		}
	})
}

// FuzzDeclared reads anything as a program.
func FuzzDeclared(f *testing.F) {
	mine := declared{messageVersion, []byte{1, 2}}
	f.Add(pack.Encode(&mine))
	f.Fuzz(func(t *testing.T, b []byte) {
		if why, err := mine.differs(b); err == nil && why == "" {
			var said declared
			if err := pack.Decode(b, &said); err != nil || said.Version != messageVersion || string(said.Digest) != string(mine.Digest) {
				t.Errorf("%x passes for the same program", b)
			}
		}
	})
}
