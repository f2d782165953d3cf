// Package fair measures this library beside the strongest forms of the same work that we know, in turns. It is
// `orwl-lab fair`, and lab/docs/fair.md is its manual.
//
// A [Case] is one piece of work. Its contenders do the same work, and each says from what source and with what flags it is made.
// They take turns, so that a machine that changes its speed changes it for all. The medians count. A turn during which other
// programs had processors is made again.
//
// The peers in C are in the folder c. They are of this repository, and are compiled when they are needed. Programs by
// others can take turns with them: see [Beside].
package fair
