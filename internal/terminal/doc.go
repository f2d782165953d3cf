// Package terminal is how programs talk to their caller: to people if there is a terminal, in
// place and as text, and to other programs if not, as lines of JSON. A node whose launcher has a terminal
// talks to people, too, line by line.
//
//	log := terminal.Log(os.Stderr, slog.LevelInfo).With("node", 2)
//	log.Info("metrics", "address", address)
//
// Log lines about these calls use these names, so that lines of several nodes can be found and
// joined: node is the number of the node that the line is about, rank the number of a place of
// execution, resource the name of a resource, and fence which grant of it.
//
// The package keeps nothing and takes no locks. The handlers of slog, which it
// returns, write one line at a time.
package terminal
