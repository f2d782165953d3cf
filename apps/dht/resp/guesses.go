package resp

import (
	"net"
	"sync"
)

// guesses limits how often clients of one address may give a wrong password: a few times at
// once, then once a second. A guess that comes too early is refused, whether right or wrong.
// So a client can be kept out by a guesser at its own address, until that stops; clients that
// are in stay in.
//
// Time is Options.Now, in milliseconds.
type guesses struct {
	mu sync.Mutex
	of map[string]*guesser // by address
}

// guesser is an address that has given wrong passwords.
type guesser struct {
	wrong int   // since it was forgotten
	last  int64 // time of the last one
}

const (
	freeGuesses  = 8
	guessEvery   = 1000      // ms
	forgiveAfter = 60 * 1000 // ms
	mostGuessers = 4096
)

// may reports whether an address may try a password now.
func (g *guesses) may(address string, now int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.of[address]
	switch {
	case who == nil:
		return true
	case now-who.last >= forgiveAfter:
		delete(g.of, address)
		return true
	}
	return who.wrong < freeGuesses || now-who.last >= guessEvery
}

// was notes a password that was wrong.
func (g *guesses) was(address string, now int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.of[address]
	if who == nil {
		g.room(now)
		who = new(guesser)
		g.of[address] = who
	}
	who.wrong++
	who.last = now
}

// room forgets guessers if there are many: the old ones, or any.
func (g *guesses) room(now int64) {
	if g.of == nil {
		g.of = make(map[string]*guesser)
	}
	if len(g.of) < mostGuessers {
		return
	}
	for address, who := range g.of {
		if now-who.last >= guessEvery {
			delete(g.of, address)
		}
	}
	for address := range g.of {
		if len(g.of) < mostGuessers {
			return
		}
		delete(g.of, address)
	}
}

// address is where a client is, without its port.
func address(link net.Conn) string {
	text := link.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(text); err == nil {
		return host
	}
	return text
}
