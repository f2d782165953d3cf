// Package steps counts which functions a step passes: it runs a test with counters, first with some steps, then with
// more. The functions that the second run passes more often are the step.
package steps
