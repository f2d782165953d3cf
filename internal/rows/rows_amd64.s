//go:build !race

#include "go_asm.h"
#include "textflag.h"

// A slice takes 24 bytes, and begins with the address of its elements.
#define SLICE 24

#define LANES (BYTES/SIZE)

// Cells of 64 bits.
#define SIZE 8
#define SPREAD VBROADCASTSD
#define MULS VMULPD
#define ADDS VADDPD
#define MOVE VMOVSD
#define MUL1 VMULSD
#define ADD1 VADDSD

// func sum64AVX(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum64AVX(SB), NOSPLIT, $0-40
	MOVQ next+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ terms+16(FP), BX
	MOVQ count+24(FP), AX
	MOVQ l+32(FP), R13

#define BYTES 32
#define A0 Y0
#define A1 Y1
#define A2 Y2
#define A3 Y3
#define W Y4
#define B0 Y5
#define B1 Y6
#define B2 Y7
#define B3 Y8
#include "sum_amd64.h"
#undef BYTES
#undef A0
#undef A1
#undef A2
#undef A3
#undef W
#undef B0
#undef B1
#undef B2
#undef B3

	VZEROUPPER
	RET

// func sum64AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum64AVX512(SB), NOSPLIT, $0-40
	MOVQ next+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ terms+16(FP), BX
	MOVQ count+24(FP), AX
	MOVQ l+32(FP), R13

#define BYTES 64
#define A0 Z0
#define A1 Z1
#define A2 Z2
#define A3 Z3
#define W Z4
#define B0 Z5
#define B1 Z6
#define B2 Z7
#define B3 Z8
#include "sum_amd64.h"
#undef BYTES
#undef A0
#undef A1
#undef A2
#undef A3
#undef W
#undef B0
#undef B1
#undef B2
#undef B3

	VZEROUPPER
	RET

#undef SIZE
#undef SPREAD
#undef MULS
#undef ADDS
#undef MOVE
#undef MUL1
#undef ADD1

// Cells of 32 bits.
#define SIZE 4
#define SPREAD VBROADCASTSS
#define MULS VMULPS
#define ADDS VADDPS
#define MOVE VMOVSS
#define MUL1 VMULSS
#define ADD1 VADDSS

// func sum32AVX(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum32AVX(SB), NOSPLIT, $0-40
	MOVQ next+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ terms+16(FP), BX
	MOVQ count+24(FP), AX
	MOVQ l+32(FP), R13

#define BYTES 32
#define A0 Y0
#define A1 Y1
#define A2 Y2
#define A3 Y3
#define W Y4
#define B0 Y5
#define B1 Y6
#define B2 Y7
#define B3 Y8
#include "sum_amd64.h"
#undef BYTES
#undef A0
#undef A1
#undef A2
#undef A3
#undef W
#undef B0
#undef B1
#undef B2
#undef B3

	VZEROUPPER
	RET

// func sum32AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum32AVX512(SB), NOSPLIT, $0-40
	MOVQ next+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ terms+16(FP), BX
	MOVQ count+24(FP), AX
	MOVQ l+32(FP), R13

#define BYTES 64
#define A0 Z0
#define A1 Z1
#define A2 Z2
#define A3 Z3
#define W Z4
#define B0 Z5
#define B1 Z6
#define B2 Z7
#define B3 Z8
#include "sum_amd64.h"
#undef BYTES
#undef A0
#undef A1
#undef A2
#undef A3
#undef W
#undef B0
#undef B1
#undef B2
#undef B3

	VZEROUPPER
	RET

#undef SIZE
#undef SPREAD
#undef MULS
#undef ADDS
#undef MOVE
#undef MUL1
#undef ADD1
