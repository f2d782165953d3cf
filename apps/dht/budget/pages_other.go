//go:build !linux

package budget

import "errors"

const outside = false

func reserve(int) ([]byte, error) { return nil, errors.ErrUnsupported }

func obtain(n int) []byte { return make([]byte, n) }

func release([]byte) {}

func discard(pages []byte) { clear(pages) }

func large(_ []byte, _, _ int) {}
