// Package pack encodes what nodes say seldom: the hello of a stream, the list of members, what a
// program declares, why a run ended. github.com/vmihailenco/msgpack does the work. A struct
// becomes a map, and its tags say the names, so any tool can read it.
//
//	type Lost struct {
//		Node int    `msgpack:"node"`
//		Why  string `msgpack:"why"`
//	}
//	b := pack.Encode(&Lost{2, "silent"})
//	err := pack.Decode(b, &lost)
//
// Decoding is strict. It refuses a field that the struct does not have, and bytes behind the
// end. It never panics. Its memory follows what has come, not what a length claims (at most
// 1 MB ahead).
//
// Frames on the path of a hand-over are appended by hand in the same format: see package wire.
package pack
