package epoch

import (
	"context"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// General active target synchronisation. Post opens a rank's memory to a group
// (exposure epoch) and Wait closes it. Start opens access to the memory of a group
// (access epoch) and Complete closes it. Only ranks that name each other
// synchronise.
//
// In foMPI, §2.4, each rank has a matching list of k reusable elements. A rank that
// posts puts itself into the target's list. Start matches the list against its
// group without any remote operation. Complete increments a counter at each rank
// of its group, and Wait waits for that counter.
//
// Here the list is a mailbox: a ring of k words. A poster draws a ticket, which
// names its word. So there is no list of free elements and nothing to retry, and
// the rank that calls Start waits for one word at a time.
//
//	    taken (private)           tail
//	      ▼                         ▼
//	┌───┬────────┬───┬────────┬───┬───┐   a word is free (0) or the poster's
//	│ 0 │ rank+1 │ 0 │ rank+1 │ 0 │ 0 │   rank + 1; the word of a ticket is the
//	└───┴────────┴───┴────────┴───┴───┘   ticket modulo k
//
// Invariants: for every ticket there is exactly one post into its word. The owner
// of the mailbox empties the words in the order of tickets, once for each ticket.
// Two tickets a lap apart share a word. Either may use it first, because a post
// contains everything that the owner needs to know.
//
// A post may arrive before the owner asks for it: from a neighbour of a later
// Start, or from a neighbour that is an epoch ahead. The owner takes it out of the
// mailbox and keeps it in early. Each poster is in early at most once. It posts
// again only after its Wait. That Wait needs this rank's Complete, which follows
// the Start that consumed the post. For the same reason a completion never belongs
// to a later epoch than the current one.
//
// Memory ordering: Complete flushes this rank's operations before it counts itself
// as done. So they are visible to the exposing rank when its Wait returns. Post
// flushes the exposing rank's operations on its own memory before it posts.
//
// Cost for a group of n: Post 2n atomics; Complete n accumulates, each flushed;
// Start and Wait only read the own segment.
//
// Memory: k + 2 words.
type posts struct {
	k    int
	tail rma.Disp // tickets given out
	done rma.Disp // completions, of all epochs
	box  rma.Disp // [k]
}

func newPosts(f rma.Fabric, k int) (posts, error) {
	tail, err := f.Alloc(2 + k)
	if err != nil {
		return posts{}, err
	}
	s := posts{k: k, tail: tail, done: tail + 1, box: tail + 2}
	rma.Label(f, s.tail, 1, "epoch.tail")
	rma.Label(f, s.done, 1, "epoch.done")
	rma.Label(f, s.box, k, "epoch.posts")
	return s, nil
}

// word is the word of a ticket.
func (s *posts) word(ticket uint64) rma.Disp { return s.box + rma.Disp(ticket%uint64(s.k)) }

// exposure is an exposure epoch.
type exposure struct {
	open   bool
	group  []rma.Rank
	posted int    // number of ranks of the group that have the post
	ticket uint64 // at the next rank of the group, valid if drawn
	drawn  bool
	ended  uint64 // completions of all earlier epochs
}

// Post opens this rank's memory to the ranks of group, until Wait. It waits only
// while the mailbox of one of them is full, see Options.Neighbours.
//
// A Post cannot be withdrawn. If ctx ends while it waits, call it again with the
// same group.
func (e *Sync) Post(ctx context.Context, group []rma.Rank) error {
	const operation = "Post"
	if err := e.enter(ctx, operation); err != nil {
		return err
	}
	if err := e.openExposure(operation, group); err != nil {
		return err
	}
	for x := &e.exposure; x.posted < len(x.group); x.posted++ {
		if err := e.post(ctx, x, x.group[x.posted]); err != nil {
			return e.failed(operation, err)
		}
	}
	return e.result(operation)
}

// openExposure begins an exposure epoch, or resumes the one of an interrupted Post.
func (e *Sync) openExposure(operation string, group []rma.Rank) error {
	x := &e.exposure
	switch {
	case !x.open:
		if err := e.checkGroup(operation, group); err != nil {
			return err
		}
		x.open, x.posted, x.group = true, 0, append(x.group[:0], group...)
		e.w.Flush(e.w.Rank())
	case x.posted == len(x.group):
		return e.misuse(operation, ErrOpen, "call Wait first")
	case !slices.Equal(x.group, group):
		return e.misuse(operation, ErrOpen, "a Post to another group was interrupted: call that Post again first")
	}
	return nil
}

// post puts this rank into target's mailbox.
func (e *Sync) post(ctx context.Context, x *exposure, target rma.Rank) error {
	if !x.drawn {
		x.ticket, x.drawn = e.w.FetchOp(target, e.posts.tail, rma.Sum, 1), true
	}
	word := e.posts.word(x.ticket)
	for e.w.CAS(target, word, 0, uint64(e.w.Rank())+1) != 0 {
		if _, err := e.w.Await(ctx, target, word, rma.Is(0)); err != nil {
			return err
		}
	}
	x.drawn = false
	return nil
}

// Start opens access to the memory of the ranks of group, until Complete. It waits
// until each of them has posted to this rank.
//
// If ctx ends while it waits, no epoch has begun. No post is lost: a later Start
// finds it, with the same group or another.
func (e *Sync) Start(ctx context.Context, group []rma.Rank) error {
	const operation = "Start"
	if err := e.enterAccess(ctx, operation, 0); err != nil {
		return err
	}
	if err := e.checkGroup(operation, group); err != nil {
		return err
	}
	clear(e.absent)
	for _, p := range group {
		if !e.early[p] {
			e.absent[p] = true
		}
	}
	for len(e.absent) > 0 {
		p, err := e.take(ctx)
		if err != nil {
			return e.failed(operation, err)
		}
		e.early[p] = true
		delete(e.absent, p)
	}
	for _, p := range group {
		delete(e.early, p)
	}
	e.started, e.access = true, append(e.access[:0], group...)
	return e.result(operation)
}

// take waits for the next post and empties its word, which wakes a rank that waits
// for room.
func (e *Sync) take(ctx context.Context) (rma.Rank, error) {
	word := e.posts.word(e.taken)
	post, err := e.w.Await(ctx, e.w.Rank(), word, rma.IsNot(0))
	if err != nil {
		return 0, err
	}
	e.w.FetchOp(e.w.Rank(), word, rma.Replace, 0)
	e.taken++
	return rma.Rank(post) - 1, nil
}

// Complete ends the access epoch. It completes this rank's operations on the ranks
// of the group and tells these ranks. It waits for no rank.
func (e *Sync) Complete() error {
	const operation = "Complete"
	if !e.started {
		return e.misuse(operation, ErrNotOpen, "call Start first")
	}
	for _, p := range e.access {
		e.w.Flush(p)
		e.w.Accumulate(p, e.posts.done, rma.Sum, 1)
	}
	for _, p := range e.access {
		e.w.Flush(p)
	}
	e.started = false
	return e.result(operation)
}

// Wait ends the exposure epoch. It waits until every rank of the group has called
// Complete. Then this rank sees their operations.
//
// If ctx ends while it waits, the epoch stays open: call Wait again.
func (e *Sync) Wait(ctx context.Context) error {
	const operation = "Wait"
	if err := e.enter(ctx, operation); err != nil {
		return err
	}
	x := &e.exposure
	switch {
	case !x.open:
		return e.misuse(operation, ErrNotOpen, "call Post first")
	case x.posted < len(x.group):
		return e.misuse(operation, ErrNotOpen, "a Post was interrupted: call Post again first")
	}
	all := x.ended + uint64(len(x.group))
	if _, err := e.w.Await(ctx, e.w.Rank(), e.posts.done, rma.AtLeast(all)); err != nil {
		return e.failed(operation, err)
	}
	x.open, x.ended = false, all
	return e.result(operation)
}
