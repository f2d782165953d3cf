//go:build !race

#include "textflag.h"

// The functions of blocks.go and dot.go, for vectors of four values. Each step takes two vectors.

// The next block is so many bytes ahead. The processor itself fetches only up to the end of a page, which is as
// long as a block. Nothing happens behind the end of memory.
#define AHEAD 4096

// MASK has all bits but the sign.
#define MASK Y15
#define SETMASK \
	VPCMPEQD MASK, MASK, MASK \
	VPSRLQ   $1, MASK, MASK

// UPPER leaves in AX the result of OP over the upper halves of the values in Y and Z. X is the lower half of Y. It uses CX and X12.
#define UPPER(OP, CMOV, Y, Z, X) \
	OP           Z, Y, Y             \
	VEXTRACTI128 $1, Y, X12          \
	OP           X12, X, X           \
	VPEXTRD      $1, X, AX           \
	VPEXTRD      $3, X, CX           \
	CMPL         CX, AX              \
	CMOV         CX, AX

// func maximumAVX2(x *float64, n int) uint32
TEXT ·maximumAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), BX
	SETMASK
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

step:
	VPAND   (SI), MASK, Y2
	VPAND   32(SI), MASK, Y3
	VPMAXUD Y2, Y0, Y0
	VPMAXUD Y3, Y1, Y1
	ADDQ    $64, SI
	SUBQ    $8, BX
	JGT     step

	UPPER(VPMAXUD, CMOVLHI, Y0, Y1, X0)
	MOVL AX, ret+16(FP)
	VZEROUPPER
	RET

// SPLIT is one level: X becomes its residual, and S the next one. NEXT and Q are for its steps.
#define SPLIT(X, S, NEXT, Q) \
	VADDPD  X, S, NEXT  \
	VSUBPD  S, NEXT, Q  \
	VSUBPD  Q, X, X     \
	VMOVAPD NEXT, S

// LEVEL leaves in LOW the sum of a level, whose s are in A and B, and were S. LOW is the lower half of A. It uses X12.
#define LEVEL(A, B, S, LOW) \
	VSUBPD       S, A, A     \
	VSUBPD       S, B, B     \
	VADDPD       B, A, A     \
	VEXTRACTF128 $1, A, X12  \
	VADDPD       X12, LOW, LOW \
	VUNPCKHPD    LOW, LOW, X12 \
	VADDSD       X12, LOW, LOW

// func extractAVX2(rest, x *float64, n int, s1, s2 float64) (sum1, sum2 float64, or uint64)
TEXT ·extractAVX2(SB), NOSPLIT, $0-64
	MOVQ         rest+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD s1+24(FP), Y8
	VBROADCASTSD s2+32(FP), Y9
	VMOVAPD      Y8, Y0
	VMOVAPD      Y8, Y1
	VMOVAPD      Y9, Y2
	VMOVAPD      Y9, Y3
	VPXOR        Y10, Y10, Y10
	VPXOR        Y11, Y11, Y11

step:
	VMOVUPD    (SI), Y4
	VMOVUPD    32(SI), Y5
	PREFETCHT0 AHEAD(SI)
	SPLIT(Y4, Y0, Y6, Y12)
	SPLIT(Y5, Y1, Y7, Y13)
	SPLIT(Y4, Y2, Y6, Y12)
	SPLIT(Y5, Y3, Y7, Y13)
	VMOVUPD    Y4, (DI)
	VMOVUPD    Y5, 32(DI)
	VPOR       Y4, Y10, Y10
	VPOR       Y5, Y11, Y11
	ADDQ       $64, SI
	ADDQ       $64, DI
	SUBQ       $8, BX
	JGT        step

	LEVEL(Y0, Y1, Y8, X0)
	VMOVSD X0, sum1+40(FP)
	LEVEL(Y2, Y3, Y9, X2)
	VMOVSD X2, sum2+48(FP)
	VPOR         Y11, Y10, Y10
	VEXTRACTI128 $1, Y10, X11
	VPOR         X11, X10, X10
	VMOVQ        X10, AX
	VPEXTRQ      $1, X10, CX
	ORQ          CX, AX
	MOVQ         AX, or+56(FP)
	VZEROUPPER
	RET

// func multiplyAVX2(p, x, y *float64, n int) uint32
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-36
	MOVQ p+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), BX
	SETMASK
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

step:
	VMOVUPD    (SI), Y2
	VMOVUPD    32(SI), Y3
	VMULPD     (DX), Y2, Y2
	VMULPD     32(DX), Y3, Y3
	PREFETCHT0 AHEAD(SI)
	PREFETCHT0 AHEAD(DX)
	VMOVUPD    Y2, (DI)
	VMOVUPD    Y3, 32(DI)
	VPAND      Y2, MASK, Y2
	VPAND      Y3, MASK, Y3
	VPMAXUD    Y2, Y0, Y0
	VPMAXUD    Y3, Y1, Y1
	ADDQ       $64, SI
	ADDQ       $64, DX
	ADDQ       $64, DI
	SUBQ       $8, BX
	JGT        step

	UPPER(VPMAXUD, CMOVLHI, Y0, Y1, X0)
	MOVL AX, ret+32(FP)
	VZEROUPPER
	RET

// func multiplyExactAVX2(high, low, x, y *float64, n int) (upper, lower, upperLow uint32)
TEXT ·multiplyExactAVX2(SB), NOSPLIT, $0-52
	MOVQ high+0(FP), DI
	MOVQ low+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DX
	MOVQ n+32(FP), BX
	SETMASK
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	VPCMPEQD Y2, Y2, Y2
	VPCMPEQD Y3, Y3, Y3
	VPXOR    Y4, Y4, Y4
	VPXOR    Y5, Y5, Y5

step:
	VMOVUPD     (SI), Y6
	VMOVUPD     32(SI), Y7
	VMOVUPD     (DX), Y8
	VMOVUPD     32(DX), Y9
	PREFETCHT0  AHEAD(SI)
	PREFETCHT0  AHEAD(DX)
	VMULPD      Y6, Y8, Y10
	VMULPD      Y7, Y9, Y11
	VFMSUB213PD Y10, Y8, Y6
	VFMSUB213PD Y11, Y9, Y7
	VMOVUPD     Y10, (DI)
	VMOVUPD     Y11, 32(DI)
	VMOVUPD     Y6, (R8)
	VMOVUPD     Y7, 32(R8)
	VPAND       Y10, MASK, Y10
	VPAND       Y11, MASK, Y11
	VPAND       Y6, MASK, Y6
	VPAND       Y7, MASK, Y7
	VPMAXUD     Y10, Y0, Y0
	VPMAXUD     Y11, Y1, Y1
	VPMINUD     Y10, Y2, Y2
	VPMINUD     Y11, Y3, Y3
	VPMAXUD     Y6, Y4, Y4
	VPMAXUD     Y7, Y5, Y5
	ADDQ        $64, SI
	ADDQ        $64, DX
	ADDQ        $64, DI
	ADDQ        $64, R8
	SUBQ        $8, BX
	JGT         step

	UPPER(VPMAXUD, CMOVLHI, Y0, Y1, X0)
	MOVL AX, upper+40(FP)
	UPPER(VPMINUD, CMOVLCS, Y2, Y3, X2)
	MOVL AX, lower+44(FP)
	UPPER(VPMAXUD, CMOVLHI, Y4, Y5, X4)
	MOVL AX, upperLow+48(FP)
	VZEROUPPER
	RET
