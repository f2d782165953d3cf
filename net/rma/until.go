package rma

import "fmt"

// Relation compares a word with a value.
type Relation uint8

// The relations. Less and GreaterOrEqual compare as signed integers, as the
// papers' counters do.
const (
	Equal Relation = iota
	NotEqual
	Less
	GreaterOrEqual
)

// Until is a condition on a word: word&Mask, compared with Value. It is data
// and not a function so that the rank that changes a word, possibly on another
// machine, can tell whom to wake, and so that a trace can print it.
type Until struct {
	Mask  uint64
	Value uint64
	Rel   Relation
}

const allBits = ^uint64(0)

// Is waits for a word to equal v.
func Is(v uint64) Until { return Until{allBits, v, Equal} }

// IsNot waits for a word to differ from v.
func IsNot(v uint64) Until { return Until{allBits, v, NotEqual} }

// Below waits for a word less than v, as signed integers.
func Below(v uint64) Until { return Until{allBits, v, Less} }

// AtLeast waits for a word not less than v, as signed integers.
func AtLeast(v uint64) Until { return Until{allBits, v, GreaterOrEqual} }

// Masked looks only at the bits of mask.
func (u Until) Masked(mask uint64) Until {
	u.Mask = mask
	return u
}

// Holds reports whether word satisfies the condition.
func (u Until) Holds(word uint64) bool {
	word &= u.Mask
	switch u.Rel {
	case Equal:
		return word == u.Value
	case NotEqual:
		return word != u.Value
	case Less:
		return int64(word) < int64(u.Value)
	default:
		return int64(word) >= int64(u.Value)
	}
}

func (u Until) String() string {
	sign := [...]string{"==", "!=", "<", ">="}[u.Rel]
	if u.Mask == allBits {
		return fmt.Sprintf("%s %d", sign, int64(u.Value))
	}
	return fmt.Sprintf("&%#x %s %d", u.Mask, sign, int64(u.Value))
}
