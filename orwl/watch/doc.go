// Package watch serves a page that shows a run as it goes: what each task does, what it waits for, and which one all others
// wait for. Any node serves the page of the whole run. Import the package, and set ORWL_WATCH:
//
//	import _ "github.com/orwl/go-orwl/orwl/watch"
//
//	$ ORWL_WATCH=1 ./prog
//	... msg=watch url=http://127.0.0.1:9464/
//
// A program that serves metrics has the page at the same port: see metrics.ServerOptions.Watch.
//
//	run ──InspectAll──▶ view ──▶ the last minute ──server-sent events──▶ pages, orwl top
//
// Without a reader, the page asks nothing and keeps nothing. With one, looks and pictures take one fiftieth of the time.
// The page is one file without anything from elsewhere. It shows names of tasks and resources, hosts and process
// numbers, and no key.
package watch
