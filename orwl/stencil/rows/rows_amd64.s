//go:build !race

#include "textflag.h"

// A slice takes 24 bytes, and begins with the address of its elements.
#define SLICE 24

// func sumAVX(next *float64, n int, weights *float64, terms *[]float64, count int)
//
// Cells DX to CX-1 are left. Each term is added to 16 sums at a time, in four registers, as
// long as so many cells are left, and then to four. R8, R9 and R10 are the weight, the term
// and how many terms are left.
TEXT ·sumAVX(SB), NOSPLIT, $0-40
	MOVQ next+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ weights+16(FP), SI
	MOVQ terms+24(FP), BX
	MOVQ count+32(FP), AX
	XORQ DX, DX
	DECQ AX

sixteen:
	LEAQ         16(DX), R11
	CMPQ         R11, CX
	JGT          four
	MOVQ         SI, R8
	MOVQ         BX, R9
	MOVQ         AX, R10
	MOVQ         (R9), R12
	VBROADCASTSD (R8), Y4
	VMULPD       (R12)(DX*8), Y4, Y0
	VMULPD       32(R12)(DX*8), Y4, Y1
	VMULPD       64(R12)(DX*8), Y4, Y2
	VMULPD       96(R12)(DX*8), Y4, Y3

term16:
	DECQ         R10
	JLT          store16
	ADDQ         $8, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	VBROADCASTSD (R8), Y4
	VMULPD       (R12)(DX*8), Y4, Y5
	VMULPD       32(R12)(DX*8), Y4, Y6
	VMULPD       64(R12)(DX*8), Y4, Y7
	VMULPD       96(R12)(DX*8), Y4, Y8
	VADDPD       Y5, Y0, Y0
	VADDPD       Y6, Y1, Y1
	VADDPD       Y7, Y2, Y2
	VADDPD       Y8, Y3, Y3
	JMP          term16

store16:
	VMOVUPD Y0, (DI)(DX*8)
	VMOVUPD Y1, 32(DI)(DX*8)
	VMOVUPD Y2, 64(DI)(DX*8)
	VMOVUPD Y3, 96(DI)(DX*8)
	MOVQ    R11, DX
	JMP     sixteen

four:
	CMPQ         DX, CX
	JGE          done
	MOVQ         SI, R8
	MOVQ         BX, R9
	MOVQ         AX, R10
	MOVQ         (R9), R12
	VBROADCASTSD (R8), Y4
	VMULPD       (R12)(DX*8), Y4, Y0

term4:
	DECQ         R10
	JLT          store4
	ADDQ         $8, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	VBROADCASTSD (R8), Y4
	VMULPD       (R12)(DX*8), Y4, Y5
	VADDPD       Y5, Y0, Y0
	JMP          term4

store4:
	VMOVUPD Y0, (DI)(DX*8)
	ADDQ    $4, DX
	JMP     four

done:
	VZEROUPPER
	RET
