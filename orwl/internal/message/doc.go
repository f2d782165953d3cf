// Package message has what the runtimes of a run say to each other, as bytes: the program that a
// node has declared, and why a node has failed.
//
// Each message has an Encode and a function that reads it. The reader refuses another version, a
// node that the run does not have, and bytes that are no message. Package pack says how a struct
// becomes bytes.
package message
