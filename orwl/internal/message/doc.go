// Package message has what the runtimes of a run say to each other, as bytes: the program that a
// node has declared, why a node has failed, what late nodes are told, and what nodes say when they agree on a
// phase.
//
// Each message has an Encode and a function that reads it. The reader refuses another version, a
// node that the run does not have, and bytes that are no message. Package pack says how a struct
// becomes bytes.
package message
