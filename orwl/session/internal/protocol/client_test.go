package protocol

import (
	"errors"
	"testing"
)

// admits is an admission for a hello that was sent at a time. The lease is 1000 and the skew
// 100: a client lets go 900 after its newest beat that was echoed.
func admits(sent int64) Message {
	return Message{Admission: &Admission{Session: 1, Length: 1000, Skew: 100, Sent: sent}}
}

func echoes(sent int64) Message { return Message{Echo: &Beat{Sent: sent}} }

// TestRenewal has a client say hello at 0 and again at 800. It lets go at 900, or 900 after the
// second hello. The second admission renews nothing: what the home has said before comes behind it.
func TestRenewal(t *testing.T) {
	lost := Message{Number: 1, Revoked: &Loss{Request: 1}}
	for what, c := range map[string]struct {
		takes []Message // from 800 on
		ends  int64
	}{
		"nothing":                                {nil, 900},
		"an admission":                           {[]Message{admits(800)}, 900},
		"an admission, and what was said before": {[]Message{admits(800), lost}, 900},
		"an echo of the hello behind these two":  {[]Message{admits(800), lost, echoes(800)}, 1700},
		"an echo of the first hello":             {[]Message{admits(800), lost, echoes(0)}, 900},
	} {
		client := NewClient(make([]byte, sizeID), "a")
		client.Connect(0)
		takes := func(now int64, m Message) {
			if err := client.Take(now, m); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		takes(10, admits(0))
		client.Connect(800)
		for _, m := range c.takes {
			takes(810, m)
		}
		if client.Tick(c.ends - 1); client.Over() != nil {
			t.Errorf("%s: the session is over before %d: %v", what, c.ends, client.Over())
		}
		if client.Tick(c.ends); !errors.Is(client.Over(), ErrExpired) {
			t.Errorf("%s: the session is not over at %d: %v", what, c.ends, client.Over())
		}
	}
}

// TestForcedWhileAway forces the release of a holder whose connection has broken. The holder connects
// again, and each message to it but the first few is slow. It is over before the home grants to the
// next session, however many have come.
func TestForcedWhileAway(t *testing.T) {
	const forced, back = 10, 500
	for come := range 5 { // of: admission, granted, revoked, echo
		queue := newFIFO()
		home := NewHome(Lease{Lease: 1000, Skew: 100}, queue)
		holder := NewClient(make([]byte, sizeID), "holder")
		holder.Connect(0)
		holder.Say(Message{Request: &Request{Name: "x"}})
		send := func(now int64, conn uint64) (said []Message) {
			for _, m := range holder.Out() {
				home.Take(now, conn, m)
			}
			for _, p := range home.Out() {
				if p.Conn == conn {
					said = append(said, p.Message)
				}
			}
			return said
		}
		for _, m := range send(0, 1) { // the admission
			if err := holder.Take(0, m); err != nil {
				t.Fatal(err)
			}
		}
		send(0, 1) // the request; the grant is lost with the connection
		home.Take(0, 2, Message{Hello: &Hello{ID: append(make([]byte, sizeID-1), 2)}})
		home.Take(0, 2, Message{Number: 1, Request: &Request{Name: "x"}})
		home.Take(forced, 2, Message{Number: 2, Revoke: &Revoke{Name: "x"}})
		home.Out()

		holder.Connect(back)
		said := send(back, 3)
		for _, m := range said[:min(come, len(said))] {
			if err := holder.Take(back, m); err != nil {
				t.Fatal(err)
			}
		}
		told := false
		for _, m := range holder.Heard() {
			told = told || m.Revoked != nil
		}
		takes := int64(forced + 1000 + 100)
		home.Take(takes-1, 2, Message{Beat: &Beat{}})
		if home.Tick(takes); home.Counts().Lost != 1 {
			t.Fatalf("%d come: the home has taken %d requests at %d, want 1", come, home.Counts().Lost, takes)
		}
		if holder.Tick(takes); !told && holder.Over() == nil {
			t.Errorf("%d of %d messages come: the home grants to the next session, and the holder goes on", come, len(said))
		}
	}
}
