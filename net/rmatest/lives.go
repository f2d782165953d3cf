package rmatest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// afterClose uses every operation of a window after its fabric was closed.
func afterClose(ctx context.Context, open func(context.Context) rma.Fabric) error {
	l, err := begin(ctx, open(context.Background()))
	if err != nil {
		return err
	}
	region, err := l.Attach(4)
	l.Check(err)
	l.Store(0, l.at, 7)
	l.Check(l.Err())
	for range 2 {
		l.Check(l.fabric.Close())
		for q, w := range l.windows {
			l.Is(w.Err(), rma.ErrClosed, "Err of rank %d after Close", q)
		}
		l.useAfterClose(region)
	}
	return l.err
}

func (l *life) useAfterClose(region rma.Region) {
	buffer := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, at := range []rma.Disp{l.at, region.Base} {
		l.Put(0, at, 8)
		l.PutBytes(0, at, buffer)
		l.Accumulate(0, at, rma.Sum, 1)
		l.Flush(0)
		l.FlushAll()
		l.Pause(1)
		l.Equal(l.Get(0, at), 0, "Get after Close")
		l.Equal(l.FetchOp(0, at, rma.Sum, 1), 0, "FetchOp after Close")
		l.Equal(l.CAS(0, at, 7, 9), 0, "CAS after Close")
		into := []byte{1, 2, 3, 4, 5, 6, 7, 8}
		l.GetBytes(0, at, into)
		if [8]byte(into) != [8]byte{} {
			l.Fail("GetBytes after Close gave %v, want zeros", into)
		}
		for _, until := range []rma.Until{rma.Is(7), rma.Is(0), rma.Is(1)} {
			_, err := l.Await(l.Context, 0, at, until)
			l.Is(err, rma.ErrClosed, "Await %v after Close", until)
		}
	}
	_, err := l.Attach(1)
	l.Is(err, rma.ErrClosed, "Attach after Close")
	_, err = l.fabric.Alloc(1)
	l.Is(err, rma.ErrClosed, "Alloc after Close")
	l.Is(l.Err(), rma.ErrClosed, "Err after operations after Close")
}

// closeWakes closes a fabric while all ranks wait.
func closeWakes(ctx context.Context, open func(context.Context) rma.Fabric) error {
	for round := range 20 {
		l, err := begin(ctx, open(context.Background()))
		if err != nil {
			return err
		}
		ended := l.waiters(ctx, rma.Rank(round%LifeRanks))
		l.Check(l.fabric.Close())
		for _, err := range ended() {
			l.Is(err, rma.ErrClosed, "Await when the fabric was closed")
		}
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// contextEndsFabric ends a fabric's context, for a reason, while all ranks wait.
func contextEndsFabric(ctx context.Context, open func(context.Context) rma.Fabric) error {
	reason := errors.New("the reason")
	for round := range 20 {
		fabric, cancel := context.WithCancelCause(context.Background())
		l, err := begin(ctx, open(fabric))
		if err != nil {
			cancel(nil)
			return err
		}
		ended := l.waiters(ctx, rma.Rank(round%LifeRanks))
		cancel(reason)
		for _, err := range ended() {
			l.Is(err, reason, "Await when the fabric's context ended")
		}
		l.Is(l.Err(), reason, "Err when the fabric's context ended")
		l.Check(l.fabric.Close())
		l.Is(l.Err(), reason, "Err when the fabric was closed after its context had ended")
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// cancelWakes cancels the context that all ranks wait with. Then it uses their
// windows.
func cancelWakes(ctx context.Context, open func(context.Context) rma.Fabric) error {
	l, err := begin(ctx, open(context.Background()))
	if err != nil {
		return err
	}
	for round := range 200 {
		waiting, cancel := context.WithCancel(ctx)
		ended := l.waiters(waiting, rma.Rank(round%LifeRanks))
		cancel()
		for _, err := range ended() {
			l.Is(err, context.Canceled, "Await when its context was cancelled")
		}
		for q, w := range l.windows {
			l.Check(w.Err())
			w.Put(rma.Rank(q), l.at+1, uint64(round)+1)
			w.Flush(rma.Rank(q))
			got, err := w.Await(ctx, rma.Rank(q), l.at+1, rma.IsNot(uint64(round)))
			l.Check(err)
			l.Equal(got, uint64(round)+1, "the word that Await returned after one that was cancelled")
		}
		if l.err != nil {
			break
		}
	}
	return l.err
}

// cancelOrChange ends a context while the awaited word changes, and in some rounds
// before. In both orders the next wait must not notice the earlier one.
func cancelOrChange(ctx context.Context, open func(context.Context) rma.Fabric) error {
	l, err := begin(ctx, open(context.Background()))
	if err != nil {
		return err
	}
	waiter, changer := l.windows[1], l.windows[2]
	change, changed := make(chan struct{}), make(chan struct{})
	defer close(change)
	go func() {
		for range change {
			changer.FetchOp(0, l.at, rma.Sum, 1)
			changed <- struct{}{}
		}
	}()
	for round := uint64(0); round < 500 && l.err == nil; round++ {
		waiting, cancel := context.WithCancel(ctx)
		before := round%4 == 0
		if !before {
			change <- struct{}{}
		}
		go cancel()
		value, err := waiter.Await(waiting, 0, l.at, rma.Is(round+1))
		if before {
			l.Is(err, context.Canceled, "round %d: Await", round)
			_, err = waiter.Await(waiting, 0, l.at, rma.Is(round+1))
			change <- struct{}{}
		}
		if before || err != nil {
			l.Is(err, context.Canceled, "round %d: Await", round)
			value, err = waiter.Await(ctx, 0, l.at, rma.Is(round+1))
		}
		l.Check(err)
		l.Equal(value, round+1, "the word that Await returned")
		<-changed
	}
	return l.err
}

// closeUnderWay closes a fabric while all ranks use every operation.
func closeUnderWay(ctx context.Context, open func(context.Context) rma.Fabric) error {
	for range 10 {
		l, err := begin(ctx, open(context.Background()))
		if err != nil {
			return err
		}
		busy, done := make(chan struct{}), make(chan error)
		for _, w := range l.windows {
			go func() { done <- l.work(w, sync.OnceFunc(func() { busy <- struct{}{} })) }()
		}
		for range l.windows {
			<-busy
		}
		l.Check(l.fabric.Close())
		for range l.windows {
			l.Is(<-done, rma.ErrClosed, "the end of a rank that worked when the fabric was closed")
		}
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// work uses every operation until the window fails and returns that failure. It
// calls busy when it is under way, or when it ends before.
func (l *life) work(w rma.Window, busy func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
		busy()
	}()
	next := (w.Rank() + 1) % LifeRanks
	bytes := make([]byte, 16)
	for i := 0; l.Context.Err() == nil; i++ {
		// On one processor, beside a rank that never waits, each goroutine on a frame's
		// way costs the frame a time slice.
		if i == 3 {
			busy()
		}
		w.Put(next, l.at+1, 1)
		w.Accumulate(next, l.at+2, rma.Sum, 1)
		w.Flush(next)
		w.PutBytes(next, l.at+4, bytes)
		w.FlushAll()
		w.GetBytes(w.Rank(), l.at+6, bytes)
		w.CAS(next, l.at+1, w.Get(next, l.at+1), 2)
		region, err := w.Attach(2)
		if err == nil {
			w.FetchOp(w.Rank(), region.Base, rma.Sum, 1)
			err = w.Detach(region.Base)
		}
		if _, waited := w.Await(l.Context, next, l.at+2, rma.AtLeast(0)); err == nil {
			err = waited
		}
		if err != nil {
			return errors.Join(err, w.Err())
		}
	}
	return l.Context.Err()
}

// Life is one test of what happens to a fabric's users when the fabric or a context
// ends. It needs fabrics with all ranks in this process. It starts goroutines.
type Life struct {
	Name string
	// Run makes fabrics by open. Each has LifeRanks ranks and ends with the
	// context fabric. Run returns the first mistake, or nil. When ctx ends, it
	// gives up.
	Run func(ctx context.Context, open func(fabric context.Context) rma.Fabric) error
}

// LifeRanks and LifeWords describe the fabric that a Life needs.
const (
	LifeRanks = 3
	LifeWords = 64
)

// Lifecycle runs Lives on a backend with all ranks as goroutines of this process. The
// backend must respect Options.Context.
func Lifecycle(t *testing.T, newFabric func(t testing.TB, o Options) rma.Fabric) {
	for _, life := range Lives() {
		t.Run(life.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			err := life.Run(ctx, func(fabric context.Context) rma.Fabric {
				f := newFabric(t, Options{Topology: topology.Flat(LifeRanks), Words: LifeWords, Context: fabric})
				t.Cleanup(func() { f.Close() })
				return f
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Lives is the whole suite of Lifecycle.
func Lives() []Life {
	return []Life{
		{"life/after-close", afterClose},
		{"life/close-wakes", closeWakes},
		{"life/context-ends-fabric", contextEndsFabric},
		{"life/cancel-wakes", cancelWakes},
		{"life/cancel-or-change", cancelOrChange},
		{"life/close-under-way", closeUnderWay},
	}
}

// life is a fabric with its windows, as a player that is rank 0.
type life struct {
	*Player
	fabric  rma.Fabric
	windows [LifeRanks]rma.Window
	at      rma.Disp
}

// begin allocates a few words of a new fabric. When ctx ends, the fabric closes, so
// that no rank waits for ever.
func begin(ctx context.Context, f rma.Fabric) (*life, error) {
	context.AfterFunc(ctx, func() { f.Close() })
	l := &life{fabric: f}
	var err error
	if l.at, err = f.Alloc(8); err != nil {
		return nil, err
	}
	for p := range l.windows {
		if l.windows[p], err = f.Window(rma.Rank(p)); err != nil {
			return nil, err
		}
	}
	l.Player = &Player{Window: l.windows[0], Context: ctx, Ranks: LifeRanks}
	return l, nil
}

// waiters starts a goroutine for every rank that waits for a word at target. No rank
// changes this word. The returned function waits for the end of all waits and
// returns their errors. When waiters returns, a rank may already sleep or not. In
// both cases the end of the fabric must reach it.
func (l *life) waiters(ctx context.Context, target rma.Rank) (ended func() []error) {
	begun, done := make(chan struct{}), make(chan error)
	for _, w := range l.windows {
		go func() {
			begun <- struct{}{}
			_, err := w.Await(ctx, target, l.at, rma.IsNot(0))
			done <- err
		}()
	}
	for range l.windows {
		<-begun
	}
	return func() (errs []error) {
		for range l.windows {
			select {
			case err := <-done:
				errs = append(errs, err)
			case <-l.Context.Done():
				return append(errs, errors.New("a rank still waits"))
			}
		}
		return errs
	}
}

// Survival executes what rma.Survivor promises, on the windows of at least three ranks that stay.
// lose makes another rank lost, and close closes the fabric. There are two words at at. No rank
// is lost yet.
func Survival(ctx context.Context, windows []rma.Survivor, at rma.Disp, lost rma.Rank, lose, close func()) error {
	s := &survival{ctx: ctx, windows: windows, at: at, lost: lost}
	waiting := s.waiters()
	patient := s.patient()
	lose()
	s.ended(waiting(), rma.ErrPeerLost)
	s.goesOn()
	s.fails()
	s.wakes()
	windows[1].Put(windows[0].Rank(), at+1, 7)
	s.check(patient(), "Await, which goes on after a loss,")
	waiting = s.waiters()
	close()
	s.ended(waiting(), rma.ErrClosed)
	return errors.Join(s.errs...)
}

type survival struct {
	ctx     context.Context
	windows []rma.Survivor
	at      rma.Disp
	lost    rma.Rank
	errs    []error
}

func (s *survival) fail(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

func (s *survival) check(err error, what string) {
	if err != nil {
		s.fail("%s ended with %v", what, err)
	}
}

// waiters lets all ranks but the first wait in their epochs: for a word of their own, for one of another
// rank, or in the window of an epoch.
func (s *survival) waiters() (ended func() []error) {
	var all, begun sync.WaitGroup
	errs := make([]error, len(s.windows))
	for i, w := range s.windows[1:] {
		begun.Add(1)
		all.Go(func() {
			e := w.Epoch()
			target := s.windows[i].Rank()
			if i == 0 {
				target = w.Rank()
			}
			begun.Done()
			if i == 1 {
				_, errs[i+1] = rma.During(w, e).Await(s.ctx, target, s.at, rma.Is(99))
			} else {
				_, errs[i+1] = w.AwaitIn(s.ctx, e, target, s.at, rma.Is(99))
			}
		})
	}
	begun.Wait()
	return func() []error { all.Wait(); return errs[1:] }
}

// patient lets the first rank wait for a value without an epoch.
func (s *survival) patient() (ended func() error) {
	done := make(chan error)
	go func() {
		w := s.windows[0]
		_, err := w.Await(s.ctx, w.Rank(), s.at+1, rma.Is(7))
		done <- err
	}()
	return func() error { return <-done }
}

func (s *survival) ended(errs []error, want error) {
	for i, err := range errs {
		var loss *rma.PeerLostError
		if !errors.Is(err, want) || errors.As(err, &loss) && loss.Rank != s.lost {
			s.fail("waiter %d ended with %v, want %v of rank %d", i+1, err, want, s.lost)
		}
	}
}

// goesOn looks at the epochs after the loss, and uses the windows.
func (s *survival) goesOn() {
	for i, w := range s.windows[1:] {
		e := w.Epoch()
		if e.Number() != 1 || !e.Lost(s.lost) || e.Lost(w.Rank()) || e.Err() != nil || w.Err() != nil {
			s.fail("after a loss, rank %d has epoch %d, lost: %t, itself: %t, with %v; its window has %v",
				w.Rank(), e.Number(), e.Lost(s.lost), e.Lost(w.Rank()), e.Err(), w.Err())
		}
		w.Put(s.lost, s.at, uint64(i))
		w.Flush(s.lost)
		if got := w.FetchOp(s.lost, s.at, rma.Sum, 1); got != uint64(i) {
			s.fail("a lost rank's word is %d, want %d", got, i)
		}
	}
}

// fails uses the window of an epoch that has ended.
func (s *survival) fails() {
	w := s.windows[1]
	over := new(rma.Epoch)
	over.End(rma.ErrPeerLost)
	d := rma.During(w, over)
	target := w.Rank()
	w.Put(target, s.at, 5)
	w.Flush(target)
	d.Put(target, s.at, 6)
	d.PutBytes(target, s.at, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	d.Accumulate(target, s.at, rma.Sum, 1)
	into := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	d.GetBytes(target, s.at, into)
	got := d.Get(target, s.at) + d.FetchOp(target, s.at, rma.Sum, 1) + d.CAS(target, s.at, 5, 6)
	_, err := d.Await(s.ctx, target, s.at, rma.Is(5))
	_, attached := d.Attach(1)
	if got != 0 || [8]byte(into) != [8]byte{} || w.Get(target, s.at) != 5 || !errors.Is(err, rma.ErrPeerLost) || !errors.Is(d.Err(), rma.ErrPeerLost) || !errors.Is(attached, rma.ErrPeerLost) {
		s.fail("the window of an ended epoch returned %d and %v, left %d, and failed with %v, %v, %v", got, into, w.Get(target, s.at), err, d.Err(), attached)
	}
	if shared, ok := d.(rma.Shared); ok {
		if _, ok := shared.Direct(target, s.at); ok || !shared.Failed().Load() {
			s.fail("the window of an ended epoch gives direct access")
		}
	}
	if d := rma.During(w, w.Epoch()); d.Get(target, s.at) != 5 || d.Err() != nil {
		s.fail("the window of this epoch reads %d and has failed with %v", d.Get(target, s.at), d.Err())
	}
	w.Put(target, s.at, 0)
	w.Flush(target)
}

// wakes waits in the new epoch: for a value that comes, and for the end of a context.
func (s *survival) wakes() {
	w, by := s.windows[1], s.windows[2]
	done := make(chan error)
	go func() {
		_, err := w.AwaitIn(s.ctx, w.Epoch(), w.Rank(), s.at, rma.Is(3))
		done <- err
	}()
	by.Put(w.Rank(), s.at, 3)
	by.Flush(w.Rank())
	s.check(<-done, "a wait in the new epoch")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, err := w.AwaitIn(ctx, w.Epoch(), w.Rank(), s.at, rma.Is(4)); !errors.Is(err, context.Canceled) {
		s.fail("a wait whose context has ended returned %v", err)
	}
}
