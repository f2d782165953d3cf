package rendezvous

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/test"
)

// TestMessages writes each message, reads it, and cuts it at every prefix.
func TestMessages(t *testing.T) {
	leader := test.RandPeerIDFatal(t)
	for _, m := range []message{
		{Say: ask, Nodes: 4, Proof: []byte{0, 255}, Address: "/ip4/127.0.0.1/tcp/1"},
		{Say: stay}, {Say: here}, {Say: full},
		{Say: lead, Leader: string(leader), Address: "/ip4/127.0.0.1/tcp/1,/ip6/::1/tcp/1"},
		{Say: seat, Number: 3, Root: "10.0.0.1:7717"},
		{Say: refuse, Why: "another size"},
	} {
		var b bytes.Buffer
		if err := m.write(&b); err != nil {
			t.Fatal(err)
		}
		whole := b.Bytes()
		got, err := read(bytes.NewReader(whole))
		if m.Version = version; err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v: read %+v, %v", m, got, err)
		}
		for i := range whole {
			if _, err := read(bytes.NewReader(whole[:i])); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes of %d: %v", i, len(whole), err)
			}
		}
	}
}

// TestNoMessages reads what no candidate says.
func TestNoMessages(t *testing.T) {
	for what, m := range map[string]message{
		"no leader": {Say: lead, Leader: "nobody"},
		"no seat":   {Say: seat, Root: "10.0.0.1:7717"},
		"no root":   {Say: seat, Number: 1},
		"long":      {Say: refuse, Why: string(make([]byte, mostMessage))},
	} {
		var b bytes.Buffer
		if err := m.write(&b); err != nil {
			t.Fatal(err)
		}
		if m, err := read(&b); !errors.Is(err, errMessage) {
			t.Errorf("%s: %+v, %v, want errMessage", what, m, err)
		}
	}
	if m, err := parse([]byte{0x81, 0xa7, 'v', 'e', 'r', 's', 'i', 'o', 'n', 2}); !errors.Is(err, errMessage) {
		t.Errorf("another version: %+v, %v", m, err)
	}
}

// TestProof proves nothing to others, or with another key.
func TestProof(t *testing.T) {
	a, b, c := peer.ID("a"), peer.ID("b"), peer.ID("c")
	is := proof(testKey, a, b)
	for what, other := range map[string][]byte{
		"to another": proof(testKey, a, c), "of another": proof(testKey, c, b), "the other way round": proof(testKey, b, a), "another key": proof([]byte("k"), a, b),
	} {
		if bytes.Equal(is, other) {
			t.Errorf("%s: the same proof", what)
		}
	}
}

func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	_ = message{Say: ask, Nodes: 4, Proof: []byte{0, 255}}.write(&b) // a buffer takes everything
	f.Add(b.Bytes()[2:])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil && !errors.Is(err, errMessage) || err == nil && m.Version != version {
			t.Errorf("%+v, %v", m, err)
		}
	})
}
