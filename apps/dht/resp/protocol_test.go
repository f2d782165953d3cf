package resp

import (
	"fmt"
	"strings"
	"testing"
)

// wrongs are what a client says, and everything it hears before the server hangs up.
var wrongs = []struct {
	name, sent, heard string
	ours              bool // Redis takes it, or says something else
}{
	{name: "nothing"},
	{name: "empty commands", sent: "*0\r\n*-1\r\n\r\n\n*1\r\n$4\r\nPING\r\n", heard: "+PONG\r\n"},
	{name: "inline", sent: "PING\r\nping\necho 'a \\'b' \n", heard: "+PONG\r\n+PONG\r\n$4\r\na 'b\r\n"},
	{name: "inline, tabs and joined quotes", sent: "\techo\t a\"b c\"\r\n", heard: "$4\r\nab c\r\n"},
	{name: "inline, hexadecimal", sent: `echo "\x00\xfF\xg\n\r\t\b\a\\\""` + "\r\n", heard: "$11\r\n\x00\xffxg\n\r\t\b\a\\\"\r\n"},
	{name: "inline, open quote", sent: "echo \"a\r\nPING\r\n", heard: "-ERR Protocol error: unbalanced quotes in request\r\n"},
	{name: "inline, quote without space", sent: "echo \"a\"b\r\n", heard: "-ERR Protocol error: unbalanced quotes in request\r\n"},
	{name: "inline, too long", sent: strings.Repeat("x", mostInline+1), heard: "-ERR Protocol error: too big inline request\r\n"},
	{name: "no count", sent: "*\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "count is a word", sent: "*x\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "count with space", sent: "* 1\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "count is huge", sent: "*2147483648\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "count above ours", sent: "*1048577\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n", ours: true},
	{name: "count beyond 64 bits", sent: "*99999999999999999999\r\n", heard: "-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "count without an end", sent: "*111111111111111111111111111", heard: "-ERR Protocol error: invalid multibulk length\r\n", ours: true},
	{name: "no bulk", sent: "*1\r\nPING\r\n", heard: "-ERR Protocol error: expected '$', got 'P'\r\n"},
	{name: "no bulk, unprintable", sent: "*1\r\n\x01\r\n", heard: "-ERR Protocol error: expected '$', got '.'\r\n", ours: true},
	{name: "length is a word", sent: "*1\r\n$x\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n"},
	{name: "length is negative", sent: "*1\r\n$-1\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n"},
	{name: "length is huge", sent: "*2\r\n$3\r\nGET\r\n$536870913\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n"},
	{name: "length above ours", sent: "*2\r\n$3\r\nGET\r\n$1048577\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n", ours: true},
	{name: "length near 2^63", sent: "*1\r\n$9223372036854775806\r\nab\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n"},
	{name: "length beyond 64 bits", sent: "*1\r\n$99999999999999999999\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n"},
	{name: "wrong length", sent: "*1\r\n$3\r\nPING\r\n", heard: "-ERR Protocol error: invalid bulk length\r\n", ours: true},
	{name: "half a count", sent: "*3"},
	{name: "half a bulk", sent: "*3\r\n$3\r\nSET\r\n$1\r\n"},
	{name: "good, then bad", sent: array("SET", "k", "v") + array("GET", "k") + "*x\r\n" + array("DEL", "k"), heard: "+OK\r\n$1\r\nv\r\n-ERR Protocol error: invalid multibulk length\r\n"},
	{name: "quit", sent: array("SET", "k", "v") + array("QUIT") + array("PING"), heard: "+OK\r\n+OK\r\n"},
	{name: "a browser", sent: "POST / HTTP/1.1\r\nHost: localhost\r\n\r\nSET k v\r\n"},
	{name: "a browser that begins politely", sent: "PING\r\nHost: x\r\nPING\r\n", heard: "+PONG\r\n", ours: true},
}

func TestProtocol(t *testing.T) {
	w := serve(t, Options{})
	for _, row := range wrongs {
		t.Run(row.name, func(t *testing.T) {
			c := dial(t, w.addr)
			c.send(row.sent)
			if got := c.all(); got != row.heard {
				t.Errorf("heard %q, want %q", got, row.heard)
			}
		})
	}
	c := dial(t, w.addr)
	c.send("PING\r\n")
	c.expect("+PONG\r\n") // no other connection has noticed
}

func TestProtocolIsRedis(t *testing.T) {
	addr := redisServer(t)
	for _, row := range wrongs {
		if row.ours {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			dial(t, addr).ask("FLUSHALL")
			c := dial(t, addr)
			c.send(row.sent)
			if got := c.all(); got != row.heard {
				t.Errorf("Redis says %q, we do %q", got, row.heard)
			}
		})
	}
}

// TestRequestTooLong sends more strings than a request may have in all.
func TestRequestTooLong(t *testing.T) {
	w := serve(t, Options{Bulk: 1 << 10, Request: 4 << 10})
	big := strings.Repeat("x", 1<<10)
	c := dial(t, w.addr)
	c.send(array("MSET", "a", big, "b", big, "c", big) + array("MSET", "a", big, "b", big, "c", big, "d", big))
	if got, want := c.all(), "+OK\r\n-ERR Protocol error: request is longer than 4096 bytes\r\n"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestReplyTooLong asks for more than a reply may have. Nothing else is disturbed.
func TestReplyTooLong(t *testing.T) {
	w := serve(t, Options{Bulk: 1 << 10, Reply: 4 << 10})
	big := strings.Repeat("x", 1<<10)
	c := dial(t, w.addr)
	for i := range 5 {
		c.send(array("SET", fmt.Sprint(i)+big[:500], big))
		c.expect("+OK\r\n")
		c.send(array("SET", fmt.Sprint(i), big))
		c.expect("+OK\r\n")
	}
	c.send(array("MGET", "0", "1", "2", "3", "4") + array("PING"))
	c.expect("-ERR the reply would be longer than 4096 bytes: ask for fewer keys at a time\r\n+PONG\r\n")
	c.send(array("MGET", "0", "1", "2"))
	c.expect("*3\r\n" + strings.Repeat("$1024\r\n"+big+"\r\n", 3))
	for range 5 {
		c.send(array("SET", big[:1000]+fmt.Sprint(c.LocalAddr()), "") + array("KEYS", "?"))
		c.expect("+OK\r\n*5\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n")
	}
	for i := range 4 {
		c.send(array("SET", fmt.Sprint(i)+big[:1000], ""))
		c.expect("+OK\r\n")
	}
	c.send(array("KEYS", "*") + array("PING"))
	c.expect("-ERR the reply would be longer than 4096 bytes: use SCAN\r\n+PONG\r\n")
	c.send(array("SCAN", "0", "COUNT", "100") + array("PING"))
	c.expect("-ERR the reply would be longer than 4096 bytes: ask for a smaller COUNT\r\n+PONG\r\n")
}

// TestSaysOnly says what it is about to send and does not: that costs the server
// nothing.
func TestSaysOnly(t *testing.T) {
	for _, text := range []string{"*1048576\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n", "*2\r\n$536870912\r\nx"} {
		s, err := New(Options{Store: newFake(), Bulk: MostBulk})
		if err != nil {
			t.Fatal(err)
		}
		c := s.newConn(&tape{pieces: [][]byte{[]byte(text)}}, 1)
		c.serve()
		if len(c.reader.buf) > leastBuffer || cap(c.reader.args)+cap(c.reader.spans) > 16 {
			t.Errorf("%q took a buffer of %d bytes and %d strings", text, len(c.reader.buf), cap(c.reader.args))
		}
	}
}
