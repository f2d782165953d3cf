// Package books decides which worker runs which task of a plan, and when a worker sleeps.
//
// # A book
//
// Each worker has a book with tasks of its own. A book has a lock. Its holder finds a task that may
// run without looking at those that may not:
//
//	look       a bitmap of the tasks that are worth a look, in task order
//	waits on   for each counter, the list of the tasks of this book that hang on it
//
//	task ──conditions met──▶ runs, publishes its round ──▶ looks at what hangs on its counter
//	     ──a counter is short──▶ hangs on that counter
//
// # Between books
//
// A task may wait for a counter of another book. Such a pair of a counter and a book is an edge. The
// watcher hangs the task, arms the edge, and looks at the counter again. The publisher stores the
// round, and then disarms each edge that is armed and puts it into the mail of its book. So one of the two
// sees the other:
//
//	watcher                        publisher
//	hang the task                  done = k
//	armed = 1                      if armed: armed = 0, mail the edge
//	look at done once more
//
// An edge is armed again only after its mail was read. So it is in the mail once at most, and a
// mailbox is a stack of edges that needs no memory.
//
// # Sleep
//
// A worker whose book has nothing to look at says that it is about to sleep, and reads its mail once
// more. The publisher looks after it has mailed whether the worker sleeps, and calls it.
//
// # Help
//
// A body that takes long runs without the lock. Then other workers may take tasks out of the book,
// and publish for it. Short bodies run under the lock: to move a task to another processor takes
// longer than they do.
package books
