package message

import (
	"reflect"
	"slices"
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

// A welcome is read as it was sent, for as many nodes.
func TestWelcome(t *testing.T) {
	w := Welcome{Machines: []string{"a", "", "b"}, Processors: 5}
	got, err := ParseWelcome(w.Encode(), 3)
	if err != nil || !slices.Equal(got.Machines, w.Machines) || got.Processors != w.Processors {
		t.Errorf("%v, %v, want %v", got, err, w)
	}
	other := Welcome{Version: Version + 1, Machines: w.Machines, Processors: 5}
	for what, b := range map[string][]byte{"another version": pack.Encode(&other), "more nodes": Welcome{Machines: make([]string, 4), Processors: 5}.Encode(), "no processor": Welcome{Machines: w.Machines}.Encode(), "nothing": nil} {
		if _, err := ParseWelcome(b, 3); err == nil {
			t.Errorf("%s is read", what)
		}
	}
}

// FuzzWelcome reads anything as a welcome. One that was read is the same when it is written and read again.
func FuzzWelcome(f *testing.F) {
	f.Add(Welcome{Machines: []string{"a", "b"}, Processors: 2}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := ParseWelcome(b, 2)
		if err != nil {
			return
		}
		if again, err := ParseWelcome(w.Encode(), 2); err != nil || !slices.Equal(again.Machines, w.Machines) || again.Processors != w.Processors {
			t.Errorf("%v is read as %v, %v", w, again, err)
		}
	})
}

// FuzzDeclared reads anything as a program.
func FuzzDeclared(f *testing.F) {
	mine := Program{Version, []byte{1, 2}}
	f.Add(pack.Encode(&mine))
	f.Fuzz(func(t *testing.T, b []byte) {
		if why, err := mine.Differs(b); err == nil && why == "" {
			var said Program
			if err := pack.Decode(b, &said); err != nil || said.Version != Version || string(said.Digest) != string(mine.Digest) {
				t.Errorf("%x passes for the same program", b)
			}
		}
	})
}

// News are read as they were sent, and what no correct node sends is refused.
func TestNews(t *testing.T) {
	failure := (&Failure{Node: 1, Text: "why"}).Encode()
	for what, c := range map[string]struct {
		b    []byte
		good bool
	}{
		"a failure":       {News{Number: 3, Failure: failure}.Encode(), true},
		"a node has left": {News{Number: 3, Node: 2}.Encode(), true},
		"another version": {pack.Encode(&News{Version: Version + 1, Node: 2}), false},
		"no node":         {News{Node: 3}.Encode(), false},
		"no failure":      {News{Failure: []byte{1}}.Encode(), false},
	} {
		m, why, err := ParseNews(c.b, 3)
		if c.good && (err != nil || m.Number != 3 || (why != nil) != (len(m.Failure) > 0)) || !c.good && err == nil {
			t.Errorf("%s: %+v, %v, %v", what, m, why, err)
		}
	}
}

// The list of proposals tells that a node has taken its call back, and what is wrong.
func TestProposals(t *testing.T) {
	good := Proposal{Call: 7, Life: 1, Offer: []byte("offer")}.Encode()
	back := Proposal{Call: 8, Life: 1, Back: true}.Encode()
	other := pack.Encode(&Proposal{Version: Version + 1, Call: 1, Life: 1})
	all, err := ParseProposals([][]byte{good, nil, good}, 2)
	if err != nil || all.Void || all.Mine != 7 || !slices.Equal(all.Lives, []uint64{1, 0, 1}) || string(all.Offers[0]) != "offer" || all.Offers[1] != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err = ParseProposals([][]byte{good, back}, 1); err != nil || !all.Void || all.Mine != 8 {
		t.Errorf("taken back: %+v, %v", all, err)
	}
	if _, err = ParseProposals([][]byte{good, other}, 0); err == nil {
		t.Error("another version is taken")
	}
}

// Offers and votes are read as they were sent. Another version is refused, and so is an offer that
// was cut off.
func TestOffersAndVotes(t *testing.T) {
	why := &Failure{Node: 2, Text: "no body", Lost: true}
	runs := NewRunning(5, 10)
	runs.Add(9)
	offer := Offer{Failure: why.Encode(), Digest: []byte{1}, First: "x", Waited: true, Runs: []Running{runs}, Knows: 4, Machine: "m"}
	o, failure, err := ParseOffer(offer.Encode(), 3)
	if offer.Version = Version; err != nil || !reflect.DeepEqual(*o, offer) || *failure != *why {
		t.Errorf("an offer: %+v, %v, %v", o, failure, err)
	}
	if r := o.Runs[0]; !r.Has(9) || r.Has(8) || r.Has(100) || !r.Any() || NewRunning(0, 10).Any() {
		t.Errorf("the tasks that run: %v", r)
	}
	vote := Vote{Orders: map[string]int{"r": 3}}
	v, failure, err := ParseVote(vote.Encode(), 3)
	if vote.Version = Version; err != nil || v.Orders["r"] != 3 || failure != nil {
		t.Errorf("a vote: %+v, %v, %v", v, failure, err)
	}
	for cut := range offer.Encode() {
		if _, _, err := ParseOffer(offer.Encode()[:cut], 3); err == nil {
			t.Errorf("the first %d bytes of an offer are read", cut)
		}
	}
	offer.Version, vote.Version = Version+1, Version+1
	if _, _, err := ParseOffer(pack.Encode(&offer), 3); err == nil {
		t.Error("an offer of another version is read")
	}
	if _, _, err := ParseVote(pack.Encode(&vote), 3); err == nil {
		t.Error("a vote of another version is read")
	}
}
