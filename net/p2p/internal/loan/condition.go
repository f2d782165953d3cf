package loan

// Condition is what the kernel knows of a process.
type Condition uint8

// The conditions. A process that waits runs, whatever it waits for.
const (
	Runs    Condition = iota
	Stopped           // by a signal or a debugger; or the kernel does not say
	Ended
)
