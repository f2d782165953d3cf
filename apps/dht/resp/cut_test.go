package resp

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// conversation is a pipeline with something of everything.
func conversation() []byte {
	return []byte(array("SET", "k", "a value\r\nof two lines") + array("GET", "k") + array("INCR", "n") + array("incrby", "n", "41") +
		array("MSET", "a", "1", "b", "", "c", strings.Repeat("x", 300)) + array("MGET", "a", "b", "nothing", "c") +
		"*0\r\n\r\nPING\r\nset inline \"a b\\x21\"\nGET inline\r\n*-1\r\n" +
		array("DEL", "a", "b", "nothing") + array("FROB", "x") + array("GET") + array("SET", "k", "v", "EX", "0") +
		array("HELLO", "3") + array("GET", "nothing") + array("EXISTS", "k", "k") + array("KEYS", "*") + array("SCAN", "0", "COUNT", "100") +
		array("COMMAND", "INFO", "get") + array("APPEND", "k", "!") + array("STRLEN", "k") + array("DBSIZE") + array("TTL", "k") + array("ECHO", "end"))
}

// TestEveryPrefix cuts the conversation short everywhere: what was complete is
// answered, and nothing else is said.
func TestEveryPrefix(t *testing.T) {
	text := conversation()
	whole := heard(t, Options{}, bytes.Clone(text))
	if !strings.HasSuffix(whole, "$3\r\nend\r\n") {
		t.Fatalf("the conversation did not come to its end: %q", whole)
	}
	before := ""
	for n := range text {
		got := heard(t, Options{}, bytes.Clone(text[:n]))
		if !strings.HasPrefix(whole, got) || !strings.HasPrefix(got, before) {
			t.Fatalf("the first %d bytes are answered with %q, the bytes before with %q", n, got, before)
		}
		before = got
	}
}

// TestEveryCut sends the conversation in two pieces, in single bytes, and in pieces
// of all sizes.
func TestEveryCut(t *testing.T) {
	text := conversation()
	whole := heard(t, Options{}, bytes.Clone(text))
	try := func(pieces [][]byte) {
		t.Helper()
		lengths := make([]int, len(pieces))
		for i, p := range pieces {
			lengths[i], pieces[i] = len(p), bytes.Clone(p)
		}
		if got := heard(t, Options{}, pieces...); got != whole {
			t.Fatalf("in pieces of %v it is answered with %q, whole with %q", lengths, got, whole)
		}
	}
	for n := range text {
		try([][]byte{text[:n], text[n:]})
	}
	single := make([][]byte, len(text))
	for i := range text {
		single[i] = text[i : i+1]
	}
	try(single)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		try(cut(text, random.IntN))
	}
}

// cut cuts text into pieces of lengths that next chooses.
func cut(text []byte, next func(n int) int) (pieces [][]byte) {
	for len(text) > 0 {
		n := 1 + next(min(len(text), 40))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}
