package rma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// Survivor is the capability of a window that goes on after other ranks are lost. A fabric
// has such windows if its options say so. The memory of a lost rank stays as it was. When
// the window knows of a loss, no operation of the lost rank takes effect any more.
//
// Each window hears of a loss at a time of its own. Two windows may hear of two losses in
// a different order.
type Survivor interface {
	Window

	// Epoch is the window's epoch. It ends when the window hears of the next loss, or when
	// the window fails.
	Epoch() *Epoch

	// AwaitIn is Await that also ends when e has ended, with e's error. Await itself goes
	// on after a loss.
	AwaitIn(ctx context.Context, e *Epoch, target Rank, disp Disp, until Until) (uint64, error)
}

// Epoch is the time between two losses, as one window knows it. The zero value is the epoch
// before all losses. It is safe for any number of goroutines.
type Epoch struct {
	lost  []Rank
	ended atomic.Bool
	cause atomic.Pointer[error] // set before ended
}

// Number is how many ranks are lost.
func (e *Epoch) Number() int { return len(e.lost) }

// Lost reports whether rank p is lost.
func (e *Epoch) Lost(p Rank) bool { return slices.Contains(e.lost, p) }

// Ended becomes true when Err becomes an error.
func (e *Epoch) Ended() *atomic.Bool { return &e.ended }

// Err is nil, or why the epoch has ended: a *PeerLostError, or the window's failure.
func (e *Epoch) Err() error {
	if e.ended.Load() {
		return *e.cause.Load()
	}
	return nil
}

// With is a new epoch, in which rank p is lost, too. It is for windows: a window first
// stores the new epoch and then ends the old one.
func (e *Epoch) With(p Rank) *Epoch { return &Epoch{lost: append(slices.Clone(e.lost), p)} }

// End ends the epoch, unless it has ended. It is for windows.
func (e *Epoch) End(cause error) {
	if e.cause.CompareAndSwap(nil, &cause) {
		e.ended.Store(true)
	}
}

// During is the window of one epoch: it fails when e ends, as other windows fail when a rank
// is lost. So an algorithm that knows nothing of losses can run for one epoch.
func During(w Survivor, e *Epoch) Window {
	d := &during{w, w, e}
	if shared, ok := w.(Shared); ok {
		return &duringShared{d, shared}
	}
	return d
}

type during struct {
	Window
	survivor Survivor
	epoch    *Epoch
}

func (d *during) over() bool { return d.epoch.ended.Load() }

func (d *during) Put(target Rank, disp Disp, value uint64) {
	if !d.over() {
		d.Window.Put(target, disp, value)
	}
}

func (d *during) Get(target Rank, disp Disp) uint64 {
	if d.over() {
		return 0
	}
	return d.Window.Get(target, disp)
}

func (d *during) Accumulate(target Rank, disp Disp, op Op, operand uint64) {
	if !d.over() {
		d.Window.Accumulate(target, disp, op, operand)
	}
}

func (d *during) FetchOp(target Rank, disp Disp, op Op, operand uint64) uint64 {
	if d.over() {
		return 0
	}
	return d.Window.FetchOp(target, disp, op, operand)
}

func (d *during) CAS(target Rank, disp Disp, old, new uint64) uint64 {
	if d.over() {
		return 0
	}
	return d.Window.CAS(target, disp, old, new)
}

func (d *during) Await(ctx context.Context, target Rank, disp Disp, until Until) (uint64, error) {
	return d.survivor.AwaitIn(ctx, d.epoch, target, disp, until)
}

func (d *during) PutBytes(target Rank, disp Disp, src []byte) {
	if !d.over() {
		d.Window.PutBytes(target, disp, src)
	}
}

func (d *during) GetBytes(target Rank, disp Disp, dst []byte) {
	if d.over() {
		clear(dst)
		return
	}
	d.Window.GetBytes(target, disp, dst)
}

func (d *during) Attach(words int) (Region, error) {
	if err := d.Err(); err != nil {
		return Region{}, err
	}
	return d.Window.Attach(words)
}

func (d *during) Err() error { return d.epoch.Err() }

// duringShared is during where ranks share memory.
type duringShared struct {
	*during
	shared Shared
}

func (d *duringShared) Direct(target Rank, disp Disp) (Word, bool) {
	word, ok := d.shared.Direct(target, disp)
	return word, ok && !d.over()
}

func (d *duringShared) Memory(target Rank, disp Disp, n int) ([]uint64, bool) {
	words, ok := d.shared.Memory(target, disp, n)
	return words, ok && !d.over()
}

func (d *duringShared) Notify(target Rank, disp Disp) { d.shared.Notify(target, disp) }

func (d *duringShared) Failed() *atomic.Bool { return &d.epoch.ended }

// ErrClosed is the failure of a window after its fabric was closed.
var ErrClosed = errors.New("rma: fabric is closed")

// ErrPeerLost matches every *PeerLostError.
var ErrPeerLost = errors.New("rma: peer lost")

// ErrNoSpace matches an *AllocError for memory that does not fit.
var ErrNoSpace = errors.New("rma: no space left")

// ErrAsymmetric matches an *AllocError for an allocation that another process
// made differently.
var ErrAsymmetric = errors.New("rma: allocation differs between processes")

// ErrNotAttached is the error of Detach if no region begins at the displacement.
var ErrNotAttached = errors.New("rma: no region of this rank begins at this displacement")

// PeerLostError is the failure of a window after its fabric lost a rank.
type PeerLostError struct {
	Rank Rank   // the lost rank
	Why  string // how the fabric noticed
}

func (e *PeerLostError) Error() string {
	return fmt.Sprintf("rma: rank %d is lost: %s", e.Rank, e.Why)
}

// Is matches ErrPeerLost.
func (e *PeerLostError) Is(target error) bool { return target == ErrPeerLost }

// AllocError is the error of an allocation that the fabric refuses.
type AllocError struct {
	Words, Free int
	Why         error  // ErrNoSpace or ErrAsymmetric
	Hint        string // the next step
}

func (e *AllocError) Error() string {
	return fmt.Sprintf("%v: want %d words, %d are free: %s", e.Why, e.Words, e.Free, e.Hint)
}

// Unwrap makes errors.Is find the reason.
func (e *AllocError) Unwrap() error { return e.Why }

// RankError is the error for a rank that is out of range, or that does not live
// in this process.
type RankError struct {
	Rank  Rank
	Ranks int
	Why   string
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rma: rank %d of %d: %s", e.Rank, e.Ranks, e.Why)
}

// AddressError is the value of the panic after a mistake of the caller: a rank or
// a displacement out of range, detached memory, or a bulk transfer that is not
// whole words.
type AddressError struct {
	Operation string
	Target    Rank
	Disp      Disp
	Bytes     int
	Why       string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("rma: %s of %d bytes at rank %d, displacement %s: %s",
		e.Operation, e.Bytes, e.Target, e.Disp, e.Why)
}
