// Package crew starts this program again, as other processes that take a part in what it does:
//
//	var others crew.Crew
//	defer others.Dismiss()
//	err := others.Hire([]string{"MY_PART=1"}) // the program looks for MY_PART before its flags
//	...
//	err = others.Wait()
//
// Package orwl/launch starts the nodes of a run, whose output it prints and which end together. A
// crew is for measurements: its processes print nothing but errors.
package crew
