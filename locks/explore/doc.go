// Package explore plays locks in the simulator in all ways that a program may use them. The tests of
// package locks and the command orwl-lab sim play the same plays.
//
// A [Lock] is what is explored. [Plays] lists its plays: what the ranks do, on which machine, in which
// way the lock reaches its words, and how schedules are searched.
//
//	for _, p := range explore.Plays(explore.Of(spec), explore.Setting{}) {
//		report := p.Run(explore.Budget{States: 20_000, Seeds: 300})
//	}
//
// A play breaks off at the first run that breaks a promise of the lock. The failure names the command
// that repeats it.
package explore
