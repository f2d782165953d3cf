//go:build !race

#include "go_asm.h"
#include "textflag.h"

// A slice takes 24 bytes, and begins with the address of its elements.
#define SLICE 24

#define LANES (BYTES/SIZE)

// AHEAD is how many bytes ahead next, and the term that leads, are fetched into the cache. It does nothing behind the end of
// memory. The other terms of a field are neighbours, which the cache still has. The processor fetches ahead by itself, but
// begins anew with each page, and after a dot product. A grid of rows took three quarters of the time with this.
#define AHEAD 4096

// FETCH4 fetches four vectors into the cache, ahead of the address in R8.
#define FETCH4 \
	PREFETCHT0 AHEAD(R8)           \
	PREFETCHT0 AHEAD+BYTES(R8)     \
	PREFETCHT0 AHEAD+(2*BYTES)(R8) \
	PREFETCHT0 AHEAD+(3*BYTES)(R8)

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
#include "sum_amd64.h"

// func sum64AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum64AVX512(SB), NOSPLIT, $0-40
#define WIDE
#include "sum_amd64.h"
#undef WIDE

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
#include "sum_amd64.h"

// func sum32AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)
TEXT ·sum32AVX512(SB), NOSPLIT, $0-40
#define WIDE
#include "sum_amd64.h"
#undef WIDE
