package direct

// storeBefore stores a value after everything that the rank has stored before, in
// everybody's order. Whether it comes before what the rank looks at next is for an
// atomic instruction to say. Here that is what any store does.
func storeBefore(word *uint64, value uint64) { *word = value }
