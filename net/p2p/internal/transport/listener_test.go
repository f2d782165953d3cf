package transport

import (
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/transport"
)

// clumsy is a listener that fails with an error of its own.
type clumsy struct {
	transport.Listener
	err error
}

func (l clumsy) Accept() (transport.CapableConn, error) { return nil, l.err }
func (l clumsy) Close() error                           { return nil }

// A listener says that it was closed, whatever the one below says, and only then.
func TestListenerSaysItIsClosed(t *testing.T) {
	other := errors.New("listener closed")
	l := &quietListener{Listener: clumsy{err: other}}
	if _, err := l.Accept(); err != other {
		t.Errorf("before it is closed: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); err != transport.ErrListenerClosed {
		t.Errorf("after it is closed: %v", err)
	}
}
