// Package plain has a sum that is not exact, by vectors: the benchmarks of package exact compare with it. It is a package, since
// a test has no assembly of its own.
package plain
