// Gray-Scott: two substances spread and react, and spots grow and divide.
//
//	go run ./examples/grayscott -plot spots.gif
package main
