// Package wire turns what nodes say to each other into bytes, and back. It knows
// nothing of streams, of order, or of who may say what: see packages engine and p2p.
//
// A frame is a header, and for some kinds raw bytes behind it:
//
//	┌──────────────┬─────────────────────────────────────────┬──────┐
//	│ header bytes │ [kind, number, bulk, checksum, body...] │ bulk │
//	└──────────────┴─────────────────────────────────────────┴──────┘
//	 uint32, little  msgpack array                             raw
//
// Each kind of frame has a file and a type, whose Append writes it and whose Parse
// reads its body. Parsing never panics, and what is too large is refused before
// anything is allocated (limits.go).
//
// The format is msgpack, so that any tool can look into a header; it is written and
// read by hand (msgpack.go), because a header is on the path of every hand-over.
// Package resource writes the headers of its parcels by the same few functions.
package wire
