package nodes

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/node"
)

// A name chooses how bytes are carried. A carrier that the program does not link is an error that says what to write.
func TestChoose(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "tcp": "", "private": "", "quic": `write import _ "github.com/orwl/go-orwl/net/p2p/quic"`, "pigeon": `is "pigeon": want tcp, private or quic`,
	} {
		for _, private := range []bool{false, true} {
			w := Network{Private: private}
			err := w.choose(name)
			if want == "" && (err != nil || w.Private != (name == "private" || name == "" && private)) {
				t.Errorf("%q: %v, private %t", name, err, w.Private)
			}
			if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, want %q", name, err, want)
			}
		}
	}
}

// The nodes of a private run meet. They do not meet a node that is not private.
func TestPrivate(t *testing.T) {
	join := func(first, second Network, patience time.Duration) error {
		address := make(chan string, 1)
		o := node.Options{
			Nodes: 2, Key: []byte("a key that these two nodes have"), Listen: "127.0.0.1:0", Listening: func(a string) { address <- a },
			Lease: time.Minute, Patience: patience, Log: slog.New(slog.DiscardHandler),
		}
		var errs [2]error
		var nodes [2]node.Node
		var both sync.WaitGroup
		both.Go(func() { nodes[0], errs[0] = first.Join(t.Context(), o) })
		o.Root, o.Number, o.Listening = <-address, 1, nil
		both.Go(func() { nodes[1], errs[1] = second.Join(t.Context(), o) })
		both.Wait()
		for i, n := range nodes {
			if errs[i] == nil {
				both.Go(func() { errs[i] = n.Close(t.Context()) })
			}
		}
		both.Wait()
		return errors.Join(errs[:]...)
	}
	if err := join(Network{Private: true}, Network{}, 200*time.Millisecond); err == nil {
		t.Error("a node that is not private is in a private run")
	}
	t.Setenv("ORWL_CARRIER", "private")
	if err := join(Network{}, Network{}, time.Minute); err != nil {
		t.Error(err)
	}
}
