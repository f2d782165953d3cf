package wire

// The limits of a frame. A frame beyond them is refused before anything is allocated for it.
const (
	// Version is the version of everything in this package. Nodes of different versions do not
	// talk.
	Version = 4
	// MaxHeader is the size of the largest header.
	MaxHeader = 1 << 20
	// MaxBulk is how many bytes can follow a header.
	MaxBulk = 1 << 30
	// MaxText is the length of the longest text: an address, a reason.
	MaxText = 1 << 10

	// maxRank is the highest rank.
	maxRank = 1<<31 - 1
)
