package protocol

// The bounds of messages and of what one session may have.
const (
	// MaxName is the length of the longest name of a lock.
	MaxName = 256
	// MaxWho is the length of the longest description of a session.
	MaxWho = 256
	// MaxBytes is how many bytes a lock may protect.
	MaxBytes = 1 << 20
	// MaxMessage is the length of the longest message.
	MaxMessage = MaxBytes + 1<<12
	// MostRequests is how many requests one session may have at once.
	MostRequests = 256
	// MostSessions is how many sessions a home takes.
	MostSessions = 1 << 12

	sizeID     = 16      // of a session's ID
	mostKept   = 1 << 12 // messages that a client has not taken
	mostBytes  = 1 << 25 // of bytes that they have
	mostText   = 1 << 10 // of a reason
	mostListed = 64      // requests of one name in a list
	listSize   = 1 << 18 // of a list, about, in bytes
)
