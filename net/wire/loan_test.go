package wire_test

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/wire"
)

// TestLoanLengths are lengths at the limits, and beyond them.
func TestLoanLengths(t *testing.T) {
	for length, want := range map[int]error{
		0: wire.ErrMalformed, 1: nil, wire.MaxBulk: nil, wire.MaxBulk + 1: wire.ErrMalformed,
	} {
		f := wire.Loan{Parcel: wire.Parcel{Channel: 1}, Offset: 1<<64 - 1, Length: length}
		if _, _, err := parse(f.Append(nil, wire.Head{Number: 1})); !errors.Is(err, want) {
			t.Errorf("a loan of %d bytes: %v, want %v", length, err, want)
		}
	}
}
