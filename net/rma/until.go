package rma

import "fmt"

// Relation compares a word with a value.
type Relation uint8

// The relations. Less and GreaterOrEqual compare signed integers, as the
// counters of the papers do.
const (
	Equal Relation = iota
	NotEqual
	Less
	GreaterOrEqual
)

// Until is a condition on a word: it compares word&Mask with Value. It is data,
// not a function, for two reasons. The rank that changes the word, possibly on
// another machine, evaluates it to find the ranks to wake. A trace prints it.
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

// AtLeast waits for a word greater than or equal to v, as signed integers.
func AtLeast(v uint64) Until { return Until{allBits, v, GreaterOrEqual} }

// Masked is the same condition on the bits of mask alone.
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
