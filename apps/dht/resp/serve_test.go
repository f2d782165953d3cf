package resp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that would wait for ever.
const patience = 5 * time.Minute

// world is a server of a fake, on a port of its own.
type world struct {
	*Server
	fake *fake
	addr string
}

func serve(t testing.TB, o Options) *world {
	t.Helper()
	f := newFake()
	if o.Store == nil {
		o.Store = f
	}
	if o.Now == nil {
		o.Now = f.now.Load
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != ErrServerClosed {
			t.Errorf("Serve ended with %v, want ErrServerClosed", err)
		}
	})
	return &world{s, f, l.Addr().String()}
}

// client is the other end of a connection, which knows no protocol.
type client struct {
	t testing.TB
	*net.TCPConn
	in *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	link, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	link.SetDeadline(time.Now().Add(patience))
	return &client{t, link.(*net.TCPConn), bufio.NewReader(link)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads as many bytes as want has.
func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.in, got); err != nil || string(got) != want {
		c.t.Fatalf("answered %q, %v; want %q", got[:n], err, want)
	}
}

// all is everything that the server says until it closes.
func (c *client) all() string {
	c.t.Helper()
	c.CloseWrite()
	return c.rest()
}

func (c *client) rest() string {
	c.t.Helper()
	got, err := io.ReadAll(c.in)
	if err != nil {
		c.t.Fatalf("after %q: %v", got, err)
	}
	return string(got)
}

// array is a command as clients send it.
func array(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}
