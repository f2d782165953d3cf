// Package hugepage asks the system for pages of 2 MiB, for memory that is large.
//
// A sweep over more memory than the caches hold reads a new page of 4 KiB for each 512 numbers, and
// the processor then looks up where the page is. It also fetches memory ahead up to the end of a page
// only. Linux gives a program large pages unasked only if its administrator said so
// (/sys/kernel/mm/transparent_hugepage/enabled is always). Mostly it says madvise, and waits
// to be asked. Go's runtime does not ask.
//
// A stencil over a cube of 192 cells takes 12 to 20 % less time with them.
package hugepage
