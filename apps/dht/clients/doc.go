// Package clients uses the hash table by a client library of Redis, as programs in Go do. It is a
// module of its own: the library takes longer to compile than the table, and only this test needs it.
package clients
