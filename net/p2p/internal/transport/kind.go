package transport

// Kind says what a connection is for.
type Kind uint8

// The kinds. A connection of each leads from one node to another.
const (
	Control Kind = iota // small frames: the default windows and frames of yamux
	Data                // bulk: large ones
	Kinds
)

func (k Kind) String() string { return [...]string{"control", "data"}[k] }
