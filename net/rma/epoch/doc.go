// Package epoch synchronises the ranks of any fabric as MPI-3 does: fences,
// post/start/complete/wait, locks, and windows on memory that the caller owns.
package epoch
