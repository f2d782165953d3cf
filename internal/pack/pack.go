package pack

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// ErrMalformed is bytes that are not what they should be.
var ErrMalformed = errors.New("pack: malformed")

// Encode encodes a value. It panics if the type of the value has no encoding.
func Encode(v any) []byte {
	b, err := msgpack.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pack: %T: %v", v, err))
	}
	return b
}

// Decode decodes one value into v, a pointer. An error does not match io.EOF: it is no end of a
// stream.
func Decode(b []byte, v any) error {
	if err := check(b); err != nil {
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	d := msgpack.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields(true)
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return nil
}

// check checks that b is one value, and that lists and maps have as many elements as they claim. The
// library makes room for all that a list claims. It has a limit, which version 5.4.1 does not look at.
func check(b []byte) error {
	r := bytes.NewReader(b)
	d := msgpack.NewDecoder(r)
	for left := 1; left > 0; left-- { // values that have not begun; each takes a byte or more
		c, err := d.PeekCode()
		if err != nil {
			return err
		}
		n := 0
		switch {
		case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
			n, err = d.DecodeArrayLen()
		case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
			n, err = d.DecodeMapLen()
			n *= 2
		default:
			err = d.Skip()
		}
		if err != nil {
			return err
		}
		if left += n; left-1 > r.Len() {
			return fmt.Errorf("%d more values are claimed, and %d bytes are left", left-1, r.Len())
		}
	}
	if r.Len() > 0 {
		return fmt.Errorf("%d bytes are left", r.Len())
	}
	return nil
}
