package freeport

import (
	"net"
	"slices"
	"strconv"
	"testing"
)

// A port with a listener is not free, and neither are those before it.
func TestFree(t *testing.T) {
	all := Addresses(t, 3)
	l, err := net.Listen("tcp", all[2])
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(all[0])
	first, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := free(first, 3); err == nil {
		t.Errorf("%v are free, and the last one has a listener", got)
	}
	l.Close()
	if got, err := free(first, 3); err != nil || !slices.Equal(got, all) {
		t.Errorf("%v, %v; want %v", got, err, all)
	}
	if first < lowest || first >= lowest+many {
		t.Errorf("port %d is not between %d and %d", first, lowest, lowest+many)
	}
}
