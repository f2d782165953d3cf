module github.com/orwl/go-orwl

go 1.26.0

require golang.org/x/sys v0.49.0

require pgregory.net/rapid v1.3.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/vmihailenco/msgpack/v5 v5.4.1
	go.uber.org/goleak v1.3.0
)

require github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
