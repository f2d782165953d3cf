// Package netns gives tests several hosts on one machine, and a network between them that
// loses, delays and cuts off. Tests for Linux use it.
//
//	n := netns.New(t, 3)
//	cmd := n.Command(0, program, "-listen", n.Address(0)+":0")
//	n.Both(0, 1, netns.Quality{Cut: true}) // nothing passes between hosts 0 and 1
//	n.Way(1, 2, netns.Quality{Delay: 5 * time.Millisecond, Loss: 0.02})
//	n.Both(0, 1, netns.Quality{})
//
// A host is a network namespace with one interface. A process that Command starts has the
// host's addresses and ports, and shares everything else with this process.
//
//	process ── TCP, UDP ── tun ──▶ Network ──▶ tun ── TCP, UDP ── process
//
// The interface is a TUN device, so each packet passes through the Network, which drops it
// or delivers it later. Both ends see a network that is silent, and no error. The kernel
// needs /dev/net/tun and no queueing discipline: `tc netem` is a module that many kernels
// lack.
//
// A namespace has no name, and ends with this process and its children. So a test that is
// killed leaves nothing behind.
//
// Where no namespace can be made, a test is skipped, with a line that says why. The gates of
// .ci run as root, and fail if such a test is skipped.
package netns
