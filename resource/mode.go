package resource

// Mode is what an access is for.
type Mode uint8

const (
	// Read shares the resource with other readers.
	Read Mode = iota
	// Write has it alone.
	Write
)

func (m Mode) String() string {
	if m == Write {
		return "write"
	}
	return "read"
}
