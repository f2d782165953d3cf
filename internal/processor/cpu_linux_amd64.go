package processor

// known reports whether cpu works.
var known = hasRDPID()

// cpu is the number of the CPU. Linux keeps it where RDPID looks.
func cpu() int

// hasRDPID reports whether the processor has the instruction.
func hasRDPID() bool
