// The sum of lines, for vectors of LANES cells in registers A0 to A3, B0 to B3 and W.
//
// Each term is added to four vectors at a time, as long as so many cells of the line are left, then
// to one, and then to one cell. DI is next, SI the weights, BX the terms, AX how many terms come
// after the first, and R13 the lines. Cells DX to CX-1 of the line are left, and R14 lines. R8, R9
// and R10 are the weight, the term and how many terms are left.

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
	MOVQ         SI, R8
	MOVQ         BX, R9
	MOVQ         AX, R10
	MOVQ         (R9), R12
	VBROADCASTSD (R8), W
	VMULPD       (R12)(DX*8), W, A0
	VMULPD       (8*LANES)(R12)(DX*8), W, A1
	VMULPD       (16*LANES)(R12)(DX*8), W, A2
	VMULPD       (24*LANES)(R12)(DX*8), W, A3

term4:
	DECQ         R10
	JLT          store4
	ADDQ         $8, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	VBROADCASTSD (R8), W
	VMULPD       (R12)(DX*8), W, B0
	VMULPD       (8*LANES)(R12)(DX*8), W, B1
	VMULPD       (16*LANES)(R12)(DX*8), W, B2
	VMULPD       (24*LANES)(R12)(DX*8), W, B3
	ADDQ         lines_ahead(R13), R12
	PREFETCHT0   (R12)(DX*8)
	PREFETCHT0   (8*LANES)(R12)(DX*8)
	PREFETCHT0   (16*LANES)(R12)(DX*8)
	PREFETCHT0   (24*LANES)(R12)(DX*8)
	VADDPD       B0, A0, A0
	VADDPD       B1, A1, A1
	VADDPD       B2, A2, A2
	VADDPD       B3, A3, A3
	JMP          term4

store4:
	VMOVUPD A0, (DI)(DX*8)
	VMOVUPD A1, (8*LANES)(DI)(DX*8)
	VMOVUPD A2, (16*LANES)(DI)(DX*8)
	VMOVUPD A3, (24*LANES)(DI)(DX*8)
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
	VBROADCASTSD (R8), W
	VMULPD       (R12)(DX*8), W, A0

term1:
	DECQ         R10
	JLT          store1
	ADDQ         $8, R8
	ADDQ         $SLICE, R9
	MOVQ         (R9), R12
	VBROADCASTSD (R8), W
	VMULPD       (R12)(DX*8), W, B0
	VADDPD       B0, A0, A0
	JMP          term1

store1:
	VMOVUPD A0, (DI)(DX*8)
	MOVQ    R11, DX
	JMP     one

cell:
	CMPQ   DX, CX
	JGE    end
	MOVQ   SI, R8
	MOVQ   BX, R9
	MOVQ   AX, R10
	MOVQ   (R9), R12
	VMOVSD (R8), X4
	VMULSD (R12)(DX*8), X4, X0

term:
	DECQ   R10
	JLT    store
	ADDQ   $8, R8
	ADDQ   $SLICE, R9
	MOVQ   (R9), R12
	VMOVSD (R8), X4
	VMULSD (R12)(DX*8), X4, X5
	VADDSD X5, X0, X0
	JMP    term

store:
	VMOVSD X0, (DI)(DX*8)
	INCQ   DX
	JMP    cell

end:
	SUBQ lines_cells(R13), DX
	ADDQ lines_apart(R13), DX
	DECQ R14
	JGT  line
