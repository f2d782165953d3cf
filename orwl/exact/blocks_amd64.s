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

// FOLD leaves in X the result of OP over the values in Y. X is the lower half of Y. It uses X12.
#define FOLD(OP, Y, X) \
	VEXTRACTF128 $1, Y, X12  \
	OP           X12, X, X   \
	VUNPCKHPD    X, X, X12   \
	OP           X12, X, X

// PRODUCT has the product of both values in X. MOST takes its size. OR takes what two levels leave of it, with A and B.
#define PRODUCT(X, A, B, MOST, OR, NEXT, Q, AND, ORS) \
	VMULPD (DX), X, X       \
	AND    X, MASKS, NEXT   \
	VMAXPD NEXT, MOST, MOST \
	SPLIT(X, A, NEXT, Q)    \
	SPLIT(X, B, NEXT, Q)    \
	ORS    X, OR, OR

// RESULTS leaves the results of extractDot in X0, X2, X11 and X10, from Y0, Y2, Y11 and Y10.
#define RESULTS \
	FOLD(VADDPD, Y0, X0)     \
	FOLD(VADDPD, Y2, X2)     \
	FOLD(VMAXPD, Y11, X11)   \
	FOLD(VPOR, Y10, X10)

// func extractDotAVX2(x, y *float64, n int, s1, s2 float64) (sum1, sum2 float64, most, or uint64)
TEXT ·extractDotAVX2(SB), NOSPLIT, $0-72
	MOVQ         x+0(FP), SI
	MOVQ         y+8(FP), DX
	MOVQ         n+16(FP), BX
	VBROADCASTSD s1+24(FP), Y8
	VBROADCASTSD s2+32(FP), Y9
	VMOVAPD      Y8, Y0
	VMOVAPD      Y8, Y1
	VMOVAPD      Y9, Y2
	VMOVAPD      Y9, Y3
	VPXOR        Y10, Y10, Y10
	VPXOR        Y11, Y11, Y11
	VPXOR        Y14, Y14, Y14
	SETMASK
#define MASKS Y15

step:
	VMOVUPD    (SI), Y4
	VMOVUPD    32(SI), Y5
	PREFETCHT0 AHEAD(SI)
	PREFETCHT0 AHEAD(DX)
	PRODUCT(Y4, Y0, Y2, Y11, Y10, Y6, Y12, VPAND, VPOR)
	ADDQ       $32, DX
	PRODUCT(Y5, Y1, Y3, Y14, Y10, Y7, Y13, VPAND, VPOR)
	ADDQ       $32, DX
	ADDQ       $64, SI
	SUBQ       $8, BX
	JGT        step
#undef MASKS

	VMAXPD Y14, Y11, Y11
	VSUBPD Y8, Y0, Y0
	VSUBPD Y8, Y1, Y1
	VADDPD Y1, Y0, Y0
	VSUBPD Y9, Y2, Y2
	VSUBPD Y9, Y3, Y3
	VADDPD Y3, Y2, Y2
	RESULTS
	VMOVSD X0, sum1+40(FP)
	VMOVSD X2, sum2+48(FP)
	VMOVSD X11, most+56(FP)
	VMOVSD X10, or+64(FP)
	VZEROUPPER
	RET

// func extractDotAVX512(x, y *float64, n int, s1, s2 float64) (sum1, sum2 float64, most, or uint64)
TEXT ·extractDotAVX512(SB), NOSPLIT, $0-72
	MOVQ         x+0(FP), SI
	MOVQ         y+8(FP), DX
	MOVQ         n+16(FP), BX
	VBROADCASTSD s1+24(FP), Z8
	VBROADCASTSD s2+32(FP), Z9
	VMOVAPD      Z8, Z0
	VMOVAPD      Z9, Z2
	VPXORQ       Z10, Z10, Z10
	VPXORQ       Z11, Z11, Z11
	VPTERNLOGQ   $0xff, Z15, Z15, Z15
	VPSRLQ       $1, Z15, Z15
#define MASKS Z15

step:
	VMOVUPD    (SI), Z4
	PREFETCHT0 AHEAD(SI)
	PREFETCHT0 AHEAD(DX)
	PRODUCT(Z4, Z0, Z2, Z11, Z10, Z6, Z12, VPANDQ, VPORQ)
	ADDQ       $64, DX
	ADDQ       $64, SI
	SUBQ       $8, BX
	JGT        step
#undef MASKS

	VSUBPD        Z8, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD        Y1, Y0, Y0
	VSUBPD        Z9, Z2, Z2
	VEXTRACTF64X4 $1, Z2, Y3
	VADDPD        Y3, Y2, Y2
	VEXTRACTF64X4 $1, Z11, Y14
	VMAXPD        Y14, Y11, Y11
	VEXTRACTF64X4 $1, Z10, Y14
	VPOR          Y14, Y10, Y10
	RESULTS
	VMOVSD X0, sum1+40(FP)
	VMOVSD X2, sum2+48(FP)
	VMOVSD X11, most+56(FP)
	VMOVSD X10, or+64(FP)
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
