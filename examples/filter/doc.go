// An image filter: a picture is blurred some times, and then perhaps only its edges are kept. It
// draws a picture if it is given none.
//
//	go run ./examples/filter -in photo.png -out blurred.png -passes 8
//	go run ./examples/filter -edges
package main
