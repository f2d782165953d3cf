// Package port is the port of a process at which it is looked at: metrics and the live page are there.
//
//	s, err := port.Serve(ctx, port.Options{Address: "127.0.0.1:0", Handler: mux})
//	...
//	defer s.Close()
//
// It stays on this machine unless the run has a key, and it answers no foreign name: a page in a browser can give its own
// name this port's address, and would read what the port shows.
package port
