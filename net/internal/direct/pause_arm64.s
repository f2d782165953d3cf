#include "textflag.h"

// func relax(n uint32)
TEXT ·relax(SB), NOSPLIT, $0-4
	MOVWU n+0(FP), R0
	CBZ   R0, done
again:
	YIELD
	SUBW $1, R0
	CBNZ R0, again
done:
	RET
