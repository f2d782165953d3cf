package lives

import "maps"

// A program may have several runs, one after another, and declare each one by what it has read of the one before. So a later life calls the
// program from its beginning. It begins each run from the latest cut of that run:
//
//	life 1  run 1 ──▶ its end is whole    run 2 ──▶ round 60 is whole ──✗
//	life 2  run 1 begins at its end       run 2 begins after round 60
//
// No task runs in a run that begins at its end. The resources get what they held, so the program reads the same again, and declares the same.
//
// A run whose end is no cut is done again, with the same result. It takes longer. So not each end has to be a cut: [Judge] says which.

// Finish is what a node tells the others of a run when its tasks have ended.
type Finish struct {
	Writes int64 `msgpack:"writes"` // bytes that a cut at the end would have of this node
	Homes  int64 `msgpack:"homes"`  // bytes of all resources that this node is the home of
	// The chair also tells how long the run took, and how long it takes at least to have a cut at its end: some time, and some for each byte. All
	// times are in nanoseconds.
	Took     int64 `msgpack:"took"`
	Least    int64 `msgpack:"least"`
	LeastFor int64 `msgpack:"leastfor"`
	Wanted   bool  `msgpack:"wanted"` // a node waits for the end of the life
}

// Verdict says what becomes of the cuts of a run that has ended.
type Verdict uint8

// The verdicts.
const (
	Stays  Verdict = iota // there is no cut at the end: the last one of the run stays
	Keeps                 // there is a cut at the end
	Forgot                // there is none, and all others are dropped
)

// Judge says what becomes of the cuts of a run, and how many bytes a cut at its end has. All nodes find the same. Kept is how many bytes the ends
// of former runs have in this life.
//
//   - A node that waits for the end of the life gets one.
//   - Together, the ends of the runs have no more bytes than all resources. One is kept always. So a program that goes through the same
//     resources in many runs does most of them again: it had better have one run with more rounds.
//   - A run that was shorter than a small multiple of what its cut takes has none.
func Judge(all []Finish, kept int64) (v Verdict, bytes int64) {
	homes := int64(0)
	for _, f := range all {
		bytes, homes = bytes+f.Writes, homes+f.Homes
	}
	switch chair := all[0]; {
	case chair.Wanted:
		return Keeps, bytes
	case kept > 0 && kept+bytes > homes:
		return Forgot, bytes
	case chair.Took < chair.Least+chair.LeastFor*bytes:
		return Stays, bytes
	}
	return Keeps, bytes
}

// Settled reports whether it is known if the run has a cut at its end: that is whole, or there will be none.
func (k *Keeper) Settled() bool { return k.none || k.whole.Round == End }

// Forget drops all cuts of this run. Those on disk are for the next start of the program: a node that leaves takes its part of them with it, and
// need not stay for that.
func (k *Keeper) Forget() {
	k.forgot[k.life.Run] = true
	maps.DeleteFunc(k.parts, func(p part, _ *records) bool { return p.Run == k.life.Run })
}
