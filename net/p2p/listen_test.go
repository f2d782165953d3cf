package p2p

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// A node that cannot listen says why, and what to do.
func TestListenAdvice(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for listen, want := range map[string]string{
		taken.Addr().String(): "p2p: listening at " + taken.Addr().String() + ": another process listens there: end it, or choose another port",
		"192.0.2.1:7717":      "p2p: listening at 192.0.2.1:7717: this machine has no such address: choose one that it has, or 0.0.0.0",
		"127.0.0.1:99999":     `p2p: address "127.0.0.1:99999": the port is no number up to 65535: listen at an address of this machine, such as 127.0.0.1:0`,
	} {
		_, err := Join(t.Context(), Options{Nodes: 1, Key: testKey, Listen: listen})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrTaken) != (listen == taken.Addr().String()) {
			t.Errorf("listening at %s: %v, want %q", listen, err, want)
		}
	}
}
