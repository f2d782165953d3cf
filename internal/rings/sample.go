package rings

import (
	"flag"
	"os"
	"testing"
)

// Sampled reports whether this run takes a sample: a test that plays many cases of one kind plays
// fewer of them. Only gate race of a change does so. Users and the nightly play all.
func Sampled() bool { return os.Getenv(Sample) != "" }

// Sampling is few in a run that takes a sample, and all in any other.
func Sampling[T any](all, few T) T {
	if Sampled() {
		return few
	}
	return all
}

// Costly skips a test in a run that takes a sample. The test takes long with the race detector, and
// other tests start the same goroutines, or its work is done by one goroutine, or by programs that
// other tests start, too.
func Costly(t testing.TB) {
	t.Helper()
	if Sampled() {
		t.Skip(Sample + ": this test takes long with the race detector, and the nightly runs it so")
	}
}

// FewChecks lets the tests by rapid of a package play fewer cases in a run that takes a sample. An init
// function of the package's tests calls it.
func FewChecks() {
	if !Sampled() {
		return
	}
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
