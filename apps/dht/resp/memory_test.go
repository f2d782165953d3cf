package resp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/orwl/go-orwl/internal/rings"
)

// exhaust takes all that a budget has.
func exhaust(b *budget.Budget) (buffers [][]byte) {
	for size := b.Usage().Limit; size > 0; size /= 2 {
		for buffer := b.Take(size); buffer != nil; buffer = b.Take(size) {
			buffers = append(buffers, buffer)
		}
	}
	return buffers
}

// pieces cuts a text into pieces of so many bytes.
func pieces(text string, size int) (all [][]byte) {
	for ; len(text) > size; text = text[size:] {
		all = append(all, []byte(text[:size]))
	}
	return append(all, []byte(text))
}

// TestDropped reads commands without a budget for long ones. Those are dropped, with nothing of them kept, and
// all others come, whatever the pieces are.
func TestDropped(t *testing.T) {
	long := strings.Repeat("x", 9000)
	text := array("GET", "a") + array("SET", "k", long) + array("GET", "b") + "PING\r\n" + array("MSET", "k", long, "l", "short", "m", long) +
		"ECHO " + long + "\r\n" + array("SET", "k", "") + array("ECHO", strings.Repeat("y", 3000)) + array("DEL", long) + array("GET", "c")
	want := "GET a|no room for SET|GET b|PING|no room for MSET|no room for |SET k |ECHO 3000|no room for DEL|GET c|"
	for _, size := range []int{1, 2, 3, 7, 100, 4095, 4096, 5000, len(text)} {
		b := budget.New(64 << 10)
		exhaust(b)
		before := b.Usage()
		r := newReader(&tape{pieces: pieces(text, size)}, b, limits{bulk: 1 << 20, request: 1 << 24})
		var got strings.Builder
		for {
			args, err := r.next()
			switch {
			case err == errNoRoom:
				fmt.Fprintf(&got, "no room for %s|", r.name)
			case err != nil:
				t.Fatalf("pieces of %d bytes: %v after %s", size, err, got.String())
			case args != nil && len(args[1:]) > 0 && len(args[1]) > 100:
				fmt.Fprintf(&got, "%s %d|", args[0], len(args[1]))
			case args != nil:
				fmt.Fprintf(&got, "%s|", bytes.Join(args, []byte(" ")))
			default:
				err = r.fill()
			}
			if len(r.buf) > leastBuffer {
				t.Fatalf("the reader has %d bytes, where there is room for none", len(r.buf))
			}
			if errors.Is(err, io.EOF) {
				break
			}
		}
		if got.String() != want {
			t.Errorf("pieces of %d bytes: %s\nwant %s", size, got.String(), want)
		}
		r.close()
		if u := b.Usage(); u != before {
			t.Errorf("%+v in the end, %+v at first", u, before)
		}
	}
}

// TestDroppedWrong goes on checking a command that it drops.
func TestDroppedWrong(t *testing.T) {
	long := strings.Repeat("x", 9000)
	begin := "*4\r\n$3\r\nSET\r\n$9000\r\n" + long + "\r\n"
	for _, row := range []struct{ rest, want string }{
		{"!", "expected '$', got '!'"},
		{"$5000000\r\n", string(protoBulk)},
		{"$1000000\r\n" + strings.Repeat("y", 1000000) + "\r\n$1000000\r\n", "request is longer than 2000000 bytes"},
	} {
		b := budget.New(64 << 10)
		exhaust(b)
		r := newReader(&tape{pieces: pieces(begin+row.rest, 1000)}, b, limits{bulk: 1 << 20, request: 2_000_000})
		var err error
		for err == nil {
			if _, err = r.next(); err == nil {
				err = r.fill()
			}
		}
		if !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.20q: %v, want %s", row.rest, err, row.want)
		}
	}
}

// TestManyStrings tells the budget of many short strings, which take more than their bytes, and drops a command when
// there is no room for them.
func TestManyStrings(t *testing.T) {
	b := budget.New(400 << 10)
	words := func(n int) string { return fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$1\r\nx\r\n", n) }
	r := newReader(&tape{pieces: pieces(words(9000)+words(1500)+words(2), 8000)}, b, limits{bulk: 1 << 20, request: 1 << 24})
	var got []int
	for {
		args, err := r.next()
		switch {
		case err == errNoRoom:
			got = append(got, -1)
		case err != nil:
			t.Fatal(err)
		case args != nil:
			if got = append(got, len(args)); len(args) > 1000 && b.Usage().Taken < len(r.buf)+2*len(args)*argBytes-2*argsKeptAtRest*argBytes {
				t.Errorf("%+v with %d strings", b.Usage(), len(args))
			}
		default:
			err = r.fill()
		}
		if err == io.EOF {
			break
		}
	}
	if fmt.Sprint(got) != "[-1 1500 2]" {
		t.Errorf("commands of %v strings, want the first dropped", got)
	}
	r.close()
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%+v in the end, want nothing taken", u)
	}
}

// TestAnnounced gives a client the buffer for a long string at once while clients take little, and otherwise for what
// has come.
func TestAnnounced(t *testing.T) {
	value := strings.Repeat("v", 1_000_000)
	set := array("SET", "k", value)
	b := budget.New(64 << 20)
	for _, calm := range []bool{true, false} {
		if !calm {
			defer b.Give(b.Take(4 << 20))
		}
		before := b.Usage().Taken
		p := &tape{}
		r := newReader(p, b, limits{bulk: 1 << 20, request: 1 << 24})
		read := func(text string, size int) (whole bool) {
			for p.pieces = pieces(text, size); len(bytes.Join(p.pieces, nil)) > 0; {
				if err := r.fill(); err != nil {
					t.Fatal(err)
				}
				args, err := r.next()
				if whole = args != nil; err != nil || whole && string(args[2]) != value {
					t.Fatalf("%v, %d strings", err, len(args))
				}
			}
			return whole
		}
		read(set[:200], 100)
		want := 0
		if calm {
			want = budget.Sized(len(set))
		}
		if taken := b.Usage().Taken - before; taken != want {
			t.Errorf("%d bytes are taken for a length that is announced, want %d", taken, want)
		}
		if !read(set[200:], 100_000) {
			t.Error("the string has not come")
		}
		if r.room(); len(r.buf) > leastBuffer {
			t.Errorf("a connection at rest keeps %d bytes", len(r.buf))
		}
		r.close()
	}
}

// stringsServer is a server of a real table, with a budget.
func stringsServer(t *testing.T, b *budget.Budget) (*table.Strings, *world) {
	t.Helper()
	store, err := table.NewStrings(context.Background(), table.Options{Volumes: 4, Most: b.Usage().Limit, Memory: b})
	if err != nil {
		t.Fatal(err)
	}
	return store, serve(t, Options{Store: store, Memory: b})
}

// TestLongValues has clients that set and ask for values of all lengths in deep pipelines, with few bytes of
// memory. Each reply is right, or OOM, and in the end no memory is taken.
func TestLongValues(t *testing.T) {
	const clients, depth = 4, 40
	rounds := rings.Sampling(12, 3)
	b := budget.New(24 << 20)
	_, w := stringsServer(t, b)
	var all sync.WaitGroup
	for who := range clients {
		all.Go(func() {
			link, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer link.Close()
			c := bufio.NewReader(link)
			r := rand.New(rand.NewPCG(uint64(who), 1))
			values := make(map[string]string) // of this client's keys
			unsure := make(map[string]bool)
			for range rounds {
				var text strings.Builder
				var want []string
				for range depth {
					key := fmt.Sprint(who, ".", r.IntN(8))
					switch value := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(1<<(4+r.IntN(17)))); r.IntN(6) {
					case 0, 1:
						text.WriteString(array("SET", key, value))
						want = append(want, "+OK\r\n")
						values[key] = value
					case 2:
						other := fmt.Sprint(who, ".", r.IntN(8))
						text.WriteString(array("MGET", key, other))
						want = append(want, "*2\r\n"+bulk(values, key)+bulk(values, other))
					case 3:
						text.WriteString(array("ECHO", value))
						want = append(want, fmt.Sprintf("$%d\r\n%s\r\n", len(value), value))
					case 4:
						text.WriteString(array("GETSET", key, value))
						want = append(want, bulk(values, key))
						values[key] = value
					default:
						text.WriteString(array("GET", key))
						want = append(want, bulk(values, key))
					}
				}
				go io.WriteString(link, text.String())
				clear(unsure)
				for i, reply := range want {
					got, err := readReply(c)
					if err != nil {
						t.Error(err)
						return
					}
					if strings.HasPrefix(got, "-OOM") {
						return // the values of the keys are not known any more
					}
					if got != reply {
						t.Errorf("client %d, reply %d has %d bytes, %.30q; want %d, %.30q", who, i, len(got), got, len(reply), reply)
						return
					}
				}
			}
		})
	}
	all.Wait()
	w.Server.Close()
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%+v when all clients are gone, want nothing taken", u)
	}
}

// bulk is what GET answers.
func bulk(values map[string]string, key string) string {
	value, found := values[key]
	if !found {
		return "$-1\r\n"
	}
	return fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
}

// readReply reads a reply of strings, as it was sent.
func readReply(c *bufio.Reader) (string, error) {
	head, err := c.ReadString('\n')
	if err != nil || head[0] != '$' && head[0] != '*' {
		return head, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	if err != nil || n < 0 {
		return head, err
	}
	if head[0] == '*' {
		for range n {
			one, err := readReply(c)
			if err != nil {
				return "", err
			}
			head += one
		}
		return head, nil
	}
	value := make([]byte, n+2)
	_, err = io.ReadFull(c, value)
	return head + string(value), err
}

// TestDirect asks for long values by a connection that takes little at a time: whatever the socket takes at once, the reply
// is whole, and a reply behind it comes behind it.
func TestDirect(t *testing.T) {
	b := budget.New(64 << 20)
	_, w := stringsServer(t, b)
	c := dial(t, w.addr)
	if err := c.SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{table.LongValue, table.LongValue + 1, 20_000, 300_000, 1 << 20} {
		value := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		c.send(array("SET", "k", value))
		c.expect("+OK\r\n")
		want := fmt.Sprintf("$%d\r\n%s\r\n", size, value)
		for _, row := range [][2]string{
			{array("GET", "k"), want}, {array("GET", "k") + array("PING"), want + "+PONG\r\n"},
			{array("PING") + array("GET", "k") + array("GET", "k"), "+PONG\r\n" + want + want},
			{array("GET", "k") + array("MGET", "k", "absent") + array("GET", "absent"), want + "*2\r\n" + want + "$-1\r\n$-1\r\n"},
		} {
			go io.WriteString(c, row[0])
			c.expect(row[1])
		}
	}
	w.Server.Close()
	if u := b.Usage(); u.Taken != 0 {
		t.Errorf("%+v when the client is gone, want nothing taken", u)
	}
}

// TestFullMemory answers OOM to what would grow when there is no room, serves all else, and has room again after
// FLUSHALL.
func TestFullMemory(t *testing.T) {
	b := budget.New(16 << 20)
	_, w := stringsServer(t, b)
	c := dial(t, w.addr)
	ask := func(text string) string {
		c.send(text)
		reply, err := readReply(c.in)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	value := strings.Repeat("v", 100_000)
	stored := 0
	for ; ; stored++ {
		got := ask(array("SET", fmt.Sprint(stored), value))
		if strings.HasPrefix(got, "-OOM memory is full: ") {
			break
		}
		if got != "+OK\r\n" {
			t.Fatalf("SET %d: %q", stored, got)
		}
	}
	if stored*len(value) < 8<<20 {
		t.Errorf("%d values of %d bytes fill 16 MiB", stored, len(value))
	}
	for _, row := range [][2]string{
		{array("GET", "0"), "$100000\r\n" + value + "\r\n"}, {array("STRLEN", "1"), ":100000\r\n"}, {array("DEL", "1"), ":1\r\n"},
		{array("CONFIG", "GET", "maxmemory"), "*2\r\n$9\r\nmaxmemory\r\n$8\r\n16777216\r\n"},
		{array("FLUSHALL"), "+OK\r\n"}, {array("SET", "new", value), "+OK\r\n"},
	} {
		if got := ask(row[0]); got != row[1] {
			t.Errorf("> %.30q\nanswered %.60q\nwant     %.60q", row[0], got, row[1])
		}
	}
	ask(array("PING")) // the buffer of the last SET is back by then
	rest := exhaust(b)
	for _, row := range [][2]string{
		{array("SET", "k", value), "-" + textNoRoom + "\r\n"}, {array("GET", "absent"), "$-1\r\n"}, {array("EXISTS", "new"), ":1\r\n"}, {array("PING"), "+PONG\r\n"},
	} {
		if got := ask(row[0]); got != row[1] {
			t.Errorf("with all memory taken\n> %.30q\nanswered %.60q\nwant     %.60q", row[0], got, row[1])
		}
	}
	rest = append(rest, exhaust(b)...) // also what c has given back
	if got := dial(t, w.addr).rest(); got != "-"+textNoClient+"\r\n" {
		t.Errorf("one more client is answered %q", got)
	}
	for _, buffer := range rest {
		b.Give(buffer)
	}
	if got := ask(array("SET", "k", value)); got != "+OK\r\n" {
		t.Errorf("with memory again: %q", got)
	}
	for _, count := range w.Server.Counts().Commands {
		if count.Name == "set" && count.Full != 2 {
			t.Errorf("%d SETs were refused for lack of room, want 2", count.Full)
		}
	}
}

// watchedTape is a tape that a test reads while the server writes.
type watchedTape struct {
	tape
	mu sync.Mutex
}

func (p *watchedTape) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tape.Write(b)
}

func (p *watchedTape) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.String()
}

// TestWaitsForRoom asks for a long value when there is no room for it. The reply waits a second, in virtual time, and is
// OOM then. If there is room before, it is the value.
func TestWaitsForRoom(t *testing.T) {
	for _, frees := range []bool{false, true} {
		t.Run(fmt.Sprint(frees), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := budget.New(16 << 20)
				store, err := table.NewStrings(context.Background(), table.Options{Volumes: 1, Memory: b})
				if err != nil {
					t.Fatal(err)
				}
				value := bytes.Repeat([]byte("v"), 100_000)
				results := make([]table.Result, 1)
				store.Do(context.Background(), []table.Op{{Kind: table.Set, Key: []byte("k"), Value: value}}, results)
				s, err := New(Options{Store: store, Memory: b})
				if err != nil || results[0].Err != nil {
					t.Fatal(err, results[0].Err)
				}
				small := [][]byte{b.Take(1), b.Take(1), b.Take(1)} // room for a client, but not for the value
				rest := exhaust(b)
				for _, buffer := range small {
					b.Give(buffer)
				}
				p := &watchedTape{tape: tape{pieces: [][]byte{[]byte(array("GET", "absent") + array("GET", "k") + array("MGET", "absent", "k") + array("STRLEN", "k"))}}}
				s.admit(p)
				synctest.Wait()
				if got := p.said(); got != "$-1\r\n" {
					t.Errorf("before there is room, the client hears %q", got)
				}
				want := "$-1\r\n-" + textNoReply + "\r\n-" + textNoReply + "\r\n:100000\r\n"
				if frees {
					want = fmt.Sprintf("$-1\r\n$100000\r\n%[1]s\r\n*2\r\n$-1\r\n$100000\r\n%[1]s\r\n:100000\r\n", value)
					for _, buffer := range rest {
						b.Give(buffer)
					}
				}
				s.serving.Wait()
				if got := p.said(); got != want {
					t.Errorf("it hears %d bytes, %.100q; want %d, %.100q", len(got), got, len(want), want)
				}
				s.Close()
			})
		})
	}
}
