// Package rendezvous lets the processes of a run find each other without an address. All
// have the same key, and know how many they are. They find candidates by a libp2p
// discovery.Discovery, mDNS by default, and agree on numbers. Then package p2p takes over:
// node 0 listens, and the others dial it.
//
//	seat, err := rendezvous.Meet(ctx, rendezvous.Options{Nodes: 4, Key: key})
//	if err != nil { ... }
//	defer seat.Close()
//	n, err := p2p.Join(ctx, p2p.Options{Number: seat.Number, Nodes: 4, Key: key, Root: seat.Root,
//		Listen: ":0", Listening: seat.Report})
//
// # The agreement
//
// A candidate has a random identity. Among those that know each other, the one with the
// lowest identity leads. A candidate asks the lowest that it has found:
//
//	candidate                      leader
//	ask ------------------------->  is it lower than I am, or do I follow another?
//	   <------------------ lead X   then ask X
//	   <--------------------- stay  otherwise it may stay
//	here ------------------------>  now it is a guest, and follows nobody else
//	   <--------- seat NUMBER ROOT  when all are there and node 0 listens
//
// The leader counts a candidate when it has said here. So a candidate is counted by one
// leader at most, and a run is complete only with candidates that wait for its leader. A
// leader that hears of a lower candidate sends its guests there. When it has all guests, it
// takes number 0, and answers full to everybody else. meeting.go is this agreement as a step
// function; meet.go has the streams and the clock.
//
// # Strangers
//
// The default host is in a private network of libp2p, whose secret comes from the key: a
// stranger cannot say a word. On a host of the user, a stranger may open a stream. An ask
// carries a proof of the key, bound to the identities at both ends, and the stream of a
// stranger is reset.
//
// Candidates on default hosts talk by TCP, whatever carries the bytes of the nodes later: QUIC
// has no private networks. So a network on which nodes use QUIC has to let TCP pass, too.
package rendezvous
