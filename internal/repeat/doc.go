// Package repeat leaves out tests whose verdict a run can only repeat. Tests use it.
//
// Many tests play schedules: a seed or a search decides which rank goes next, and one rank
// runs at a time. Such a test computes the same each time. The race detector finds no second
// goroutine in it, another GOMAXPROCS changes nothing, and so does another Go version, since
// net/sim's own tests run there. Other tests compute numbers from the source, or start the
// explorer many times. All of these begin with
//
//	repeat.Skip(t)
//
// and so run once for each text of the program: in CI's gates test and invariants, and with
// larger budgets in seeds. The gates race and cpu leave them out.
//
// A test that needs the scheduler, a clock, a socket or another process does not call Skip.
package repeat
