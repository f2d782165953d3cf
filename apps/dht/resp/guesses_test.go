package resp

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// The server looks at a few of a thousand guesses that come at once, and the log has a few lines. It
// refuses the right password as long as guesses come, and takes it a second later.
func TestGuesses(t *testing.T) {
	const many = 1000
	log := make(events, 4*many)
	w := serve(t, Options{Password: "secret", Log: slog.New(log)})
	looked := 0
	for i := range many {
		if got := guess(t, w, fmt.Sprint("guess ", i)); strings.HasPrefix(got, "-WRONGPASS") {
			looked++
		}
	}
	if looked != freeGuesses {
		t.Errorf("%d guesses were looked at, want %d", looked, freeGuesses)
	}
	if lines := len(log); lines > 2*linesAtOnce {
		t.Errorf("%d lines of log", lines)
	}
	if got := guess(t, w, "secret"); got != "-"+textTooMany+"\r\n" {
		t.Errorf("the right password, too early: %q", got)
	}
	w.fake.now.Add(guessEvery)
	if got := guess(t, w, "secret"); got != "+OK\r\n" {
		t.Errorf("the right password, a second later: %q", got)
	}
	if got := guess(t, w, "no"); !strings.HasPrefix(got, "-WRONGPASS") {
		t.Errorf("one guess a second: %q", got)
	}
	if got := guess(t, w, "no"); got != "-"+textTooMany+"\r\n" {
		t.Errorf("and no more: %q", got)
	}
	w.fake.now.Add(forgiveAfter)
	for range freeGuesses {
		if got := guess(t, w, "no"); !strings.HasPrefix(got, "-WRONGPASS") {
			t.Errorf("after a minute: %q", got)
		}
	}
}

// guess gives a password on a connection of its own.
func guess(t *testing.T, w *world, password string) string {
	c := dial(t, w.addr)
	defer c.Close()
	c.send(array("AUTH", password))
	return c.all()
}

// The guessers that are remembered are not more than fit.
func TestMostGuessers(t *testing.T) {
	rings.Costly(t)
	var g guesses
	for i := range 3 * mostGuessers {
		g.was(fmt.Sprint(i), 0)
	}
	if len(g.of) > mostGuessers {
		t.Errorf("%d guessers are remembered, want at most %d", len(g.of), mostGuessers)
	}
}

// The line after lines that were left out says how many.
func TestSeldom(t *testing.T) {
	now := int64(0)
	got := make(events, 100)
	log := newSeldom(slog.New(got), func() int64 { return now })
	for range linesAtOnce + 5 {
		log.Warn("flood")
	}
	log.Warn("news")
	now += aWhile
	log.With("node", 0).Warn("flood")
	log.Warn("flood")
	close(got)
	var all []string
	for line := range got {
		all = append(all, line)
	}
	want := linesAtOnce + 3
	if len(all) != want || all[linesAtOnce] != "news" || !strings.Contains(all[want-2], "left_out=5") || all[want-1] != "flood" {
		t.Errorf("the log says %q", all)
	}
}

// A client that sends a byte now and then, and never a whole request, loses its place; so does
// one that never gives the password, and one that takes a reply byte by byte. A client that
// sends whole requests stays.
func TestDripping(t *testing.T) {
	drip := func(c net.Conn, text string) (sent int) {
		for i := range len(text) {
			<-time.After(5 * time.Second)
			if _, err := c.Write([]byte{text[i]}); err != nil {
				return i
			}
		}
		return len(text)
	}
	long := array("SET", "key", strings.Repeat("x", 100))
	for name, c := range map[string]struct {
		o      Options
		client func(c net.Conn) bool // reports whether it was still there at its end
		stays  bool
	}{
		"half a request": {Options{}, func(c net.Conn) bool { return drip(c, long) == len(long) }, false},
		"no password":    {Options{Password: "secret"}, func(c net.Conn) bool { return drip(c, strings.Repeat("\r\n", 50)) == 100 }, false},
		"short requests": {Options{}, func(c net.Conn) bool {
			go func() {
				for b := make([]byte, 1); ; {
					if _, err := c.Read(b); err != nil {
						return
					}
				}
			}()
			text := strings.Repeat("PING\r\n", 20)
			return drip(c, text) == len(text)
		}, true},
		"a reply": {Options{}, func(c net.Conn) bool {
			c.Write([]byte(array("ECHO", strings.Repeat("x", 1000))))
			for b := make([]byte, 1); ; <-time.After(5 * time.Second) {
				if n, err := c.Read(b); n == 0 || err != nil {
					return false
				}
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.o.Store = newFake()
				s, err := New(c.o)
				if err != nil {
					t.Fatal(err)
				}
				mine, theirs := net.Pipe()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					s.newConn(theirs, 1).serve()
				}()
				if stays := c.client(mine); stays != c.stays {
					t.Errorf("it was there at its end: %v, want %v", stays, c.stays)
				}
				mine.Close()
				<-ended
				s.Close()
			})
		})
	}
}
