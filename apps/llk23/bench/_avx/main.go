// Avx writes the assembly of the fast kernel's skewed form. It is a module of
// its own, so that avo is no dependency of go-orwl.
//
//	go generate ./apps/llk23
package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 4
	width = 8 * lanes
)

func main() {
	TEXT("skewedAVX", NOSPLIT, "func(at *byte, steps int)")
	Doc("skewedAVX computes steps times 4 elements in each of 4 rows.")
	at := Load(Param("at"), GP64())
	steps := NewParamAddr("steps", 8) // there is no register left for it
	north, here, south := load(at, "north"), load(at, "here"), load(at, "south")
	names := []string{"zb", "zr", "zu", "zv", "zz"}
	z := map[string]reg.Register{}
	for _, name := range names {
		z[name] = load(at, name)
	}
	data, coefficients := rows{}, rows{}
	for r := 1; r < lanes; r++ {
		data[r], coefficients[r] = load(at, fmt.Sprint("data", r)), load(at, fmt.Sprint("coefficients", r))
	}

	factor := YMM()
	VBROADCASTSD(ConstData("factor", F64(0.175)), factor)
	west := YMM()
	gather(data, here, west)

	Label("step")
	Comment("What multiplies west, a column of four rows in each register.")
	var v [lanes]reg.VecVirtual
	for r := range v {
		v[r] = YMM()
		VMULPD(coefficients.at(z["zv"], r, 0), factor, v[r])
	}
	v = transposed(v)

	Comment("The rest, in the order of rowFast.")
	var base [lanes]reg.VecVirtual
	for r := range base {
		center, p, term := YMM(), YMM(), YMM()
		VMOVUPD(data.at(here, r, 0), center)
		VMOVUPD(data.at(here, r, 8), p)
		VMULPD(coefficients.at(z["zu"], r, 0), p, p)
		VMOVUPD(data.at(south, r, 0), term)
		VMULPD(coefficients.at(z["zr"], r, 0), term, term)
		VADDPD(term, p, p)
		VMOVUPD(coefficients.at(z["zz"], r, 0), term)
		VSUBPD(center, term, term)
		VADDPD(term, p, p)
		VMOVUPD(data.at(north, r, 0), term)
		VMULPD(coefficients.at(z["zb"], r, 0), term, term)
		VADDPD(term, p, p)
		VMULPD(p, factor, p)
		VADDPD(p, center, p)
		base[r] = p
	}
	base = transposed(base)

	Comment("The chain from west to east, in four rows at once.")
	for c := range base {
		last := west
		if c > 0 {
			last = base[c-1]
		}
		VMULPD(last, v[c], v[c])
		VADDPD(v[c], base[c], base[c])
	}
	VMOVAPD(base[lanes-1], west)
	for r, row := range transposed(base) {
		VMOVUPD(row, data.at(here, r, 0))
	}

	for _, pointer := range []reg.Register{north, here, south, z["zb"], z["zr"], z["zu"], z["zv"], z["zz"]} {
		ADDQ(Imm(width), pointer)
	}
	DECQ(steps)
	JNZ(LabelRef("step"))
	VZEROUPPER()
	RET()
	Generate()
}

// fields are those of places in Go, a word each.
var fields = []string{
	"north", "here", "south", "zb", "zr", "zu", "zv", "zz",
	"data1", "data2", "data3", "coefficients1", "coefficients2", "coefficients3",
}

// load loads one of the fields.
func load(at reg.Register, field string) reg.Register {
	r := GP64()
	MOVQ(Mem{Base: at, Disp: 8 * slices.Index(fields, field)}, r)
	return r
}

// rows is how far each row is from the first one.
type rows [lanes]reg.Register

// at is an element of row r.
func (o rows) at(first reg.Register, r, offset int) Mem {
	m := Mem{Base: first, Disp: offset}
	if r == 0 {
		return m
	}
	return m.Idx(o[r], 1)
}

// gather loads the west neighbours of the first elements.
func gather(data rows, here reg.Register, all reg.VecVirtual) {
	high := XMM()
	VMOVSD(data.at(here, 0, -8), all.AsX())
	VMOVHPD(data.at(here, 1, -8), all.AsX(), all.AsX())
	VMOVSD(data.at(here, 2, -8), high)
	VMOVHPD(data.at(here, 3, -8), high, high)
	VINSERTF128(Imm(1), high, all, all)
}

// transposed exchanges rows and columns.
func transposed(m [lanes]reg.VecVirtual) (t [lanes]reg.VecVirtual) {
	var pairs [lanes]reg.VecVirtual
	for i := range pairs {
		pairs[i], t[i] = YMM(), YMM()
	}
	for i := 0; i < lanes; i += 2 {
		VUNPCKLPD(m[i+1], m[i], pairs[i])
		VUNPCKHPD(m[i+1], m[i], pairs[i+1])
	}
	for i := range t {
		VPERM2F128(Imm(0x20+uint64(i/2)*0x11), pairs[i%2+2], pairs[i%2], t[i])
	}
	return t
}
