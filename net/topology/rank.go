package topology

// Rank is a place of execution, 0..P-1: a leaf of a Tree.
type Rank int
