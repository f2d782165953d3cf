//go:build js

// Command wasm is the simulator of orwl play, for browsers. orwl play builds it, and puts it into its page.
//
//	GOOS=js GOARCH=wasm go build github.com/orwl/go-orwl/cmd/orwl/play/wasm
package main
