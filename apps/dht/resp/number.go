package resp

import "math"

// integer is the number that text is, as Redis reads it: decimal, with no sign but
// one minus, no leading zero, no space.
func integer(text []byte) (n int64, ok bool) {
	digits, negative := text, false
	if len(text) > 0 && text[0] == '-' {
		digits, negative = text[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(digits) == 1 && !negative
	}
	var magnitude uint64 // 19 digits fit
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		magnitude = magnitude*10 + uint64(d-'0')
	}
	if negative {
		return -int64(magnitude), magnitude <= -math.MinInt64
	}
	return int64(magnitude), magnitude <= math.MaxInt64
}
