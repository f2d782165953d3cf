#include "textflag.h"

// Linux keeps the number in the lower 12 bits, and the memory node above.

// func cpu() int
TEXT ·cpu(SB), NOSPLIT, $0-8
	RDPID CX
	ANDL  $0xfff, CX
	MOVQ  CX, ret+0(FP)
	RET

// Leaf 7 of CPUID, if there is one, has a bit for RDPID: bit 22 of ECX.

// func hasRDPID() bool
TEXT ·hasRDPID(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  AX, AX
	CPUID
	CMPL  AX, $7
	JLT   no
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $22, CX
	ANDL  $1, CX
	MOVB  CX, ret+0(FP)
no:
	RET
