// Package session lets any process use locks by name, with the bytes that they protect. The
// process is not part of a run: it connects, holds what it asks for under a lease, and leaves.
//
//	server, err := session.Listen(ctx, session.ServerOptions{Listen: "127.0.0.1:0"})
//	if err != nil {
//		return err
//	}
//	defer server.Close(ctx)
//	s, err := session.Dial(ctx, session.Options{Addresses: []string{server.Address()}})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	l, err := s.Lock(ctx, "jobs")
//	if err != nil {
//		return err
//	}
//	if err := l.Write(ctx, []byte("job 0017")); err != nil {
//		return err
//	}
//	b, err := l.Read(ctx)
//	fmt.Printf("%s %v\n", b, err)
//	return l.Unlock(ctx)
//	// Output:
//	// job 0017 <nil>
//
// A [Server] keeps the locks, and makes each on demand. The command orwl has both ends for shells.
//
// # Contract
//
// The queue of a name is first come, first served. Neighbouring readers share a grant.
//
// The server ends a session after lease and skew of silence, by its own clock. The session lets
// go by itself when no beat of the last lease less skew was answered: the context of each lock
// ends. So no other session holds the lock before, if each clock is wrong by at most the skew in the
// time of a lease, and the holder stops when the context ends. A holder that is stopped by the system, or
// that does not watch the context, may still act after that. The fence is for this: it grows
// with each grant to a writer, and a store that remembers the greatest fence can refuse what
// comes late. The bytes of the lock itself are such a store: Write and Unlock are refused if the
// lock was lost.
//
// Unlock commits the bytes that Write has written. A session that ends before commits nothing, and
// the next holder's [Lock.Prior] says so.
//
// A session that loses its connection connects again, and keeps its locks and its place in each
// queue, if it does so within the lease.
//
// # Locks in this package
//
// Server.mu guards the home, the connections and the places. Session.mu guards the client and its
// locks. Neither is held while the other is taken, and nothing waits for the network while it holds one. A line has a mutex of its own, which comes last.
package session
