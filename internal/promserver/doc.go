// Package promserver runs the Prometheus that is installed on this machine, for tests that
// want to know what it makes of what a program exports. Where none is installed, a test
// is skipped and says so.
//
//	s := promserver.Start(t, promserver.Options{Rules: "rules.yml"})
//	s.Watch(promserver.Job{Name: "orwl", Targets: []string{"127.0.0.1:9464", "127.0.0.1:9465"}})
//	s.Until("sum(up)", func(v float64) bool { return v == 2 })
//
// It scrapes and evaluates twice a second, and keeps what it has in a folder of the
// test's. A Server may be used by one goroutine.
package promserver
