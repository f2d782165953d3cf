package message

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pack"
)

// A failure is read as it was told, and nothing else is.
func TestFailureCodec(t *testing.T) {
	for _, e := range []Failure{{2, "", false}, {0, "boom", true}, {1, strings.Repeat("x", MostText), false}} {
		b := e.Encode()
		got, err := ParseFailure(b, 3)
		if err != nil || *got != e {
			t.Errorf("%v, %v, want %v", got, err, e)
		}
		for cut := range min(len(b), 100) {
			if _, err := ParseFailure(b[:cut], 3); err == nil {
				t.Errorf("the first %d bytes of %d are read", cut, len(b))
			}
		}
		if _, err := ParseFailure(append(b, 0), 3); err == nil {
			t.Error("one byte more is read")
		}
	}
	if _, err := ParseFailure((&Failure{Node: 3}).Encode(), 3); err == nil {
		t.Error("a node that is not there is read")
	}
	other := failure{Version: Version + 1}
	if _, err := ParseFailure(pack.Encode(&other), 3); err == nil {
		t.Error("another version is read")
	}
	long := Failure{Text: strings.Repeat("x", 2*MostText)}
	if got, err := ParseFailure(long.Encode(), 3); err != nil || len(got.Text) != MostText {
		t.Errorf("a long text: %v", err)
	}
}

// TestSameProgram compares a program with itself, with another, and with what is none.
func TestSameProgram(t *testing.T) {
	mine := Program{Version, []byte{1, 2}}
	for _, c := range []struct {
		said []byte
		want string
		bad  bool
	}{
		{pack.Encode(&mine), "", false},
		{pack.Encode(&Program{Version, []byte{1, 3}}), "another program", false},
		{pack.Encode(&Program{Version + 1, []byte{1, 2}}), "another build", false},
		{[]byte{1, 2}, "", true},
	} {
		why, err := mine.Differs(c.said)
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) || (err != nil) != c.bad {
			t.Errorf("%x: %q, %v, want %q", c.said, why, err, c.want)
		}
	}
}

// FuzzFailure reads anything as a failure. A failure that was read is the same when it is written
// and read again.
func FuzzFailure(f *testing.F) {
	f.Add((&Failure{Node: 2, Text: "boom", Lost: true}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseFailure(b, 3)
		if err != nil || len(e.Text) > MostText {
			return
		}
		if again, err := ParseFailure(e.Encode(), 3); err != nil || *again != *e {
			t.Errorf("%v is read as %v, %v", e, again, err)
		}
	})
}
