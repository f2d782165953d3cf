// The body of a function that sums lines, for vectors of LANES cells of SIZE bytes, BYTES together, in registers A0 to A3, B0 to B3
// and W: of AVX-512 if WIDE is defined, of AVX otherwise. The instructions have the names that rows_amd64.s gives them.
//
// Each term is added to four vectors at a time, as long as so many cells of the line are left, then
// to one, and then to one cell. DI is next, SI the weights, BX the terms, AX how many terms come
// after the first, and R13 the lines. Cells DX to CX-1 of the line are left, and R14 lines. R8, R9
// and R10 are the weight, the term and how many terms are left.

#ifdef WIDE
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
#else
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
#endif

	MOVQ next+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ terms+16(FP), BX
	MOVQ count+24(FP), AX
	MOVQ l+32(FP), R13

	DECQ AX
	XORQ DX, DX
	MOVQ lines_count(R13), R14

line:
	MOVQ DX, CX
	ADDQ lines_cells(R13), CX

four:
	LEAQ         (4*LANES)(DX), R11
	CMPQ         R11, CX
	JGT          one
	MOVQ         lines_lead(R13), R12
	MOVQ         (BX)(R12*1), R12
	LEAQ         (R12)(DX*SIZE), R8
	FETCH4
	LEAQ         (DI)(DX*SIZE), R8
	FETCH4
	MOVQ         SI, R8
	MOVQ         BX, R9
	MOVQ         AX, R10
	MOVQ         (R9), R12
	SPREAD (R8), W
	MULS       (R12)(DX*SIZE), W, A0
	MULS       BYTES(R12)(DX*SIZE), W, A1
	MULS       (2*BYTES)(R12)(DX*SIZE), W, A2
	MULS       (3*BYTES)(R12)(DX*SIZE), W, A3

term4:
	DECQ         R10
	JLT          store4
	ADDQ         $SIZE, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	SPREAD (R8), W
	MULS       (R12)(DX*SIZE), W, B0
	MULS       BYTES(R12)(DX*SIZE), W, B1
	MULS       (2*BYTES)(R12)(DX*SIZE), W, B2
	MULS       (3*BYTES)(R12)(DX*SIZE), W, B3
	ADDS       B0, A0, A0
	ADDS       B1, A1, A1
	ADDS       B2, A2, A2
	ADDS       B3, A3, A3
	JMP          term4

store4:
	VMOVUPD A0, (DI)(DX*SIZE)
	VMOVUPD A1, BYTES(DI)(DX*SIZE)
	VMOVUPD A2, (2*BYTES)(DI)(DX*SIZE)
	VMOVUPD A3, (3*BYTES)(DI)(DX*SIZE)
	MOVQ    R11, DX
	JMP     four

one:
	LEAQ         LANES(DX), R11
	CMPQ         R11, CX
	JGT          cell
	MOVQ         SI, R8
	MOVQ         BX, R9
	MOVQ         AX, R10
	MOVQ         (R9), R12
	SPREAD (R8), W
	MULS       (R12)(DX*SIZE), W, A0

term1:
	DECQ         R10
	JLT          store1
	ADDQ         $SIZE, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	SPREAD (R8), W
	MULS       (R12)(DX*SIZE), W, B0
	ADDS       B0, A0, A0
	JMP          term1

store1:
	VMOVUPD A0, (DI)(DX*SIZE)
	MOVQ    R11, DX
	JMP     one

cell:
	CMPQ   DX, CX
	JGE    end
	MOVQ   SI, R8
	MOVQ   BX, R9
	MOVQ   AX, R10
	MOVQ   (R9), R12
	MOVE (R8), X4
	MUL1 (R12)(DX*SIZE), X4, X0

term:
	DECQ   R10
	JLT    store
	ADDQ   $SIZE, R8
	ADDQ   $SLICE, R9
	MOVQ   (R9), R12
	MOVE (R8), X4
	MUL1 (R12)(DX*SIZE), X4, X5
	ADD1 X5, X0, X0
	JMP    term

store:
	MOVE X0, (DI)(DX*SIZE)
	INCQ   DX
	JMP    cell

end:
	SUBQ lines_cells(R13), DX
	ADDQ lines_apart(R13), DX
	DECQ R14
	JGT  line

	VZEROUPPER
	RET

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
