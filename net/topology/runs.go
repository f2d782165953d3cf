package topology

// run is a value that stands several times in a row. Machines repeat
// themselves, so descriptions and pictures are sequences of runs.
type run struct {
	value, times int
}

// appendRun adds a run to the end, joining it to the last if the value is the
// same.
func appendRun(runs []run, value, times int) []run {
	if n := len(runs); n > 0 && runs[n-1].value == value {
		runs[n-1].times += times
		return runs
	}
	return append(runs, run{value, times})
}
