// Package terminal is how programs talk to whoever has started them: to people if there
// is a terminal, in place and as text, and to other programs if not, as lines of JSON.
//
//	log := terminal.Log(os.Stderr, slog.LevelInfo).With("node", 2)
//	log.Info("metrics", "address", address)
//
// Whoever logs about these calls them so, that lines of several nodes can be sought
// and joined: node is the number of the node that the line is about, rank that of a
// place of execution, resource the name of a resource, and fence which grant of it.
//
// The package keeps nothing and takes no locks. The handlers of slog, which it
// returns, write one line at a time.
package terminal
