package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports are below the ports that systems give to connections, which begin at 32768 or later. A
// connection of another test could take such a port before the program listens. Worse, a program that
// dials such a port until another one listens may be given that port, and then talks to itself.
const (
	lowest = 10_000
	many   = 20_000
)

// Addresses are count addresses of loopback without a listener. Their ports follow each other.
func Addresses(t testing.TB, count int) []string {
	t.Helper()
	var err error
	for range 100 {
		var all []string
		if all, err = free(lowest+rand.IntN(many), count); err == nil {
			return all
		}
	}
	t.Fatalf("no %d ports beside each other are free: %v", count, err)
	return nil
}

// free is the addresses from a port on, if all are free.
func free(port, count int) (all []string, err error) {
	for i := range count {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
		if err != nil {
			return nil, err
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// Address is an address of loopback without a listener.
func Address(t testing.TB) string { return Addresses(t, 1)[0] }

// Port is the port of Address.
func Port(t testing.TB) string {
	_, port, _ := net.SplitHostPort(Address(t))
	return port
}
