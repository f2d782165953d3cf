// Heat flows along a bar whose left end is kept hot.
//
//	go run ./examples/heat -plot heat.gif
package main
