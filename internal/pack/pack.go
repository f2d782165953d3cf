package pack

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
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

// Decode decodes one value into v, a pointer.
func Decode(b []byte, v any) error {
	return whole(b, func(d *msgpack.Decoder) error { return d.Decode(v) })
}

// List decodes a list of so many elements, which Encode has encoded. The library would
// make room for as many elements as the list claims to have, so List checks their number
// first.
func List[T any](b []byte, n int) (list []T, err error) {
	err = whole(b, func(d *msgpack.Decoder) error {
		claimed, err := d.DecodeArrayLen()
		if err != nil {
			return err
		}
		if claimed != n {
			return fmt.Errorf("a list of %d, want %d", claimed, n)
		}
		list = make([]T, n)
		for i := range list {
			if err := d.Decode(&list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// whole has f decode all of b. The error does not match io.EOF: it is no end of a stream.
func whole(b []byte, f func(d *msgpack.Decoder) error) error {
	r := bytes.NewReader(b)
	d := msgpack.NewDecoder(r)
	d.DisallowUnknownFields(true)
	if err := f(d); err != nil {
		return fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if r.Len() > 0 {
		return fmt.Errorf("%w: %d bytes are left", ErrMalformed, r.Len())
	}
	return nil
}
