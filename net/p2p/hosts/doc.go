// Package hosts tests nodes on hosts that libp2p.New makes, with all that such a host has, as the programs of users make
// them. It is a module of its own, so that no other program builds libp2p's other transports, relays and NAT traversal. The gate clients
// runs it.
package hosts
