// Avx writes the assembly of the fast kernel's skewed form. It is a module of
// its own, so that avo is no dependency of go-orwl.
//
//	go generate ./apps/llk23
//
// Four rows are swept together, in the lanes of vectors. A step is one unit of four
// elements in each of them. Each lane is lag units behind the one to its north, and goes on with
// the row four below as soon as its row ends. With rows of four units, a to d, and a lag of one:
//
//	step     0  1  2  3  4  5  6  7  8  9 10
//	lane 0   0a 0b 0c 0d 4a 4b 4c 4d  -  -  -
//	lane 1   -  1a 1b 1c 1d 5a 5b 5c 5d  -  -
//	lane 2   -  -  2a 2b 2c 2d 6a 6b 6c 6d  -
//	lane 3   -  -  -  3a 3b 3c 3d 7a 7b 7c 7d
//
// A lane without a unit is idle: it computes like the others, but stores the old elements.
//
// With a lag of one, the unit to the north has been computed in the step before, in the lane before. It
// stays in a register, since memory would take longer. With a lag of two it comes from memory while the
// step before computes. A lag of two suits rows that are not in the cache, if they are long enough.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 4
	unit  = 4
	width = 8 * unit
)

func main() {
	TEXT("sweepAVX", NOSPLIT, "func(north, zb, zr, zu, zv, zz *float64, data, coefficients, units, lag, groups int)")
	Doc("sweepAVX sweeps so many units of 4 elements in so many groups of 4 rows.")
	k := newKernel()
	k.begin()
	k.turns()
	Label("step")
	k.step()
	DECQ(k.steps)
	JNZ(LabelRef("step"))
	JMP(LabelRef("turn"))
	Label("end")
	VZEROUPPER()
	RET()
	Generate()
}

// kernel is what the registers and the stack hold.
type kernel struct {
	planes       map[string]reg.Register // the first row's coefficients
	data         [lanes]reg.Register     // where each lane's unit is in the row to its north
	coefficients [lanes]reg.Register     // how far each lane's unit is from the first one
	apart        reg.Register            // from one row of data to the next
	temporary    reg.Register

	factor, west reg.VecVirtual
	north        [lanes]reg.VecVirtual // of the units of a step

	// On the stack:
	units, groups    Mem        // arguments; groups is how many have not begun
	lag              Mem        // an argument
	turn, steps      Mem        // which lane begins a row next, in how many steps
	toData, toPlanes Mem        // how far that lane jumps
	less             Mem        // how much less the next lane jumps
	idles            Mem        // the next value of idle in the lane
	near             Mem        // the lanes that north has when a step begins: 0 none, 1 all but lane 0, 2 all
	idle             [lanes]Mem // where all bits are set, old elements stay
}

func newKernel() *kernel {
	k := &kernel{planes: map[string]reg.Register{}}
	for _, name := range []string{"zb", "zr", "zu", "zv", "zz"} {
		k.planes[name] = Load(Param(name), GP64())
	}
	for r := range lanes {
		k.data[r], k.coefficients[r] = GP64(), GP64()
	}
	k.temporary, k.factor, k.west = GP64(), YMM(), YMM()
	k.units, k.lag, k.groups = NewParamAddr("units", 64), NewParamAddr("lag", 72), NewParamAddr("groups", 80)
	for _, m := range []*Mem{&k.turn, &k.steps, &k.toData, &k.toPlanes, &k.less, &k.idles, &k.near} {
		*m = AllocLocal(8)
	}
	for r := range lanes {
		k.north[r], k.idle[r] = YMM(), AllocLocal(width)
	}
	return k
}

// begin puts the lanes on the first four rows. Lane 0 is about to begin.
func (k *kernel) begin() {
	k.apart = Load(Param("data"), GP64())
	Load(Param("north"), k.data[0])
	Load(Param("coefficients"), k.temporary)
	XORQ(k.coefficients[0], k.coefficients[0])
	for r := 1; r < lanes; r++ {
		LEAQ(Mem{Base: k.data[r-1]}.Idx(k.apart, 1), k.data[r])
		LEAQ(Mem{Base: k.coefficients[r-1]}.Idx(k.temporary, 1), k.coefficients[r])
	}
	VBROADCASTSD(ConstData("factor", F64(0.175)), k.factor)
	VXORPD(k.west, k.west, k.west)
	all := YMM()
	VCMPPD(Imm(0xf), k.west, k.west, all) // true
	for r := range lanes {
		VMOVAPD(k.west, k.north[r])
		VMOVUPD(all, k.idle[r])
	}
	for _, m := range []Mem{k.turn, k.toData, k.toPlanes, k.idles} {
		MOVQ(U32(0), m)
	}
	MOVQ(k.lag, k.temporary)
	SHLQ(Imm(5), k.temporary) // to bytes
	MOVQ(k.temporary, k.less)
	MOVQ(U32(2), k.near)
	MOVQ(k.lag, k.temporary)
	SUBQ(k.temporary, k.near)
	JMP(LabelRef("lane0"))
}

// turns lets one lane after the other begin its next row.
func (k *kernel) turns() {
	Label("turn")
	CMPQ(k.turn, Imm(2))
	JEQ(LabelRef("lane2"))
	JHI(LabelRef("lane3"))
	CMPQ(k.turn, Imm(0))
	JNE(LabelRef("lane1"))
	k.jumps()
	for r := range lanes {
		Label(fmt.Sprint("lane", r))
		k.begins(r)
	}
}

// jumps is how far lanes jump from the second group on.
func (k *kernel) jumps() {
	MOVQ(U32(0), k.less)
	MOVQ(k.units, k.temporary)
	CMPQ(k.temporary, Imm(lanes))
	JNE(LabelRef("far"))
	MOVQ(U32(2), k.near)
	Label("far")
	SHLQ(Imm(5), k.temporary) // to bytes
	NEGQ(k.temporary)
	MOVQ(k.temporary, k.toData)
	MOVQ(k.temporary, k.toPlanes)
	DECQ(k.groups)
	JZ(LabelRef("last"))
	LEAQ(Mem{Base: k.temporary}.Idx(k.apart, lanes), k.temporary)
	MOVQ(k.temporary, k.toData)
	Load(Param("coefficients"), k.temporary)
	SHLQ(Imm(2), k.temporary)
	ADDQ(k.temporary, k.toPlanes)
	JMP(LabelRef("lane0"))
	Label("last")
	Comment("There is no further row: lanes go back to where their last one begins, and are idle.")
	SUBQ(Imm(1), k.idles)
}

// begins is a lane's turn.
func (k *kernel) begins(lane int) {
	if lane == lanes-1 {
		CMPQ(k.idles, Imm(0))
		JNE(LabelRef("end"))
	}
	ADDQ(k.toData, k.data[lane])
	ADDQ(k.toPlanes, k.coefficients[lane])
	in := YMM()
	VBROADCASTSD(k.idles, in)
	VMOVUPD(in, k.idle[lane])
	VBROADCASTSD(Mem{Base: k.data[lane], Disp: -8}.Idx(k.apart, 1), in)
	VBLENDPD(Imm(1<<lane), in, k.west, k.west)

	MOVQ(k.less, k.temporary)
	SUBQ(k.temporary, k.toData)
	SUBQ(k.temporary, k.toPlanes)
	MOVQ(U32((lane+1)%lanes), k.turn)
	MOVQ(k.lag, k.temporary)
	if lane == lanes-1 {
		LEAQ(Mem{Base: k.temporary}.Idx(k.temporary, 2), k.temporary)
		NEGQ(k.temporary)
		ADDQ(k.units, k.temporary)
	}
	MOVQ(k.temporary, k.steps)
	if lane < lanes-1 {
		JMP(LabelRef("step"))
	}
}

// step computes the next unit of each lane.
func (k *kernel) step() {
	CMPQ(k.near, Imm(1))
	JHI(LabelRef("near"))
	for r := range lanes {
		VMOVUPD(Mem{Base: k.data[r]}, k.north[r])
		if r == 0 {
			JEQ(LabelRef("near"))
		}
	}
	Label("near")

	Comment("All but the west term, in the order of rowFast.")
	var base [lanes]reg.VecVirtual
	for r := range base {
		center, p, term := YMM(), YMM(), YMM()
		VMOVUPD(k.here(r, 0), center)
		VMOVUPD(k.here(r, 8), p)
		VMULPD(k.plane("zu", r), p, p)
		VMOVUPD(Mem{Base: k.data[r]}.Idx(k.apart, 2), term)
		VMULPD(k.plane("zr", r), term, term)
		VADDPD(term, p, p)
		VMOVUPD(k.plane("zz", r), term)
		VSUBPD(center, term, term)
		VADDPD(term, p, p)
		VMULPD(k.plane("zb", r), k.north[r], term)
		VADDPD(term, p, p)
		VMULPD(p, k.factor, p)
		VADDPD(p, center, p)
		base[r] = p
	}
	base = transposed(base)

	Comment("What multiplies west, a column of four rows in each register.")
	var v [lanes]reg.VecVirtual
	for r := range v {
		v[r] = YMM()
		VMULPD(k.plane("zv", r), k.factor, v[r])
	}
	v = transposed(v)

	Comment("The chain from west to east, in four rows at once.")
	for c := range base {
		last := k.west
		if c > 0 {
			last = base[c-1]
		}
		VMULPD(last, v[c], v[c])
		VADDPD(v[c], base[c], base[c])
	}
	VMOVAPD(base[unit-1], k.west)
	for r, row := range transposed(base) {
		idle := YMM()
		VMOVAPD(row, k.north[(r+1)%lanes])
		VMOVUPD(k.idle[r], idle)
		VBLENDVPD(idle, k.here(r, 0), row, row)
		VMOVUPD(row, k.here(r, 0))
	}
	for r := range lanes {
		ADDQ(Imm(width), k.data[r])
		ADDQ(Imm(width), k.coefficients[r])
	}
}

// here is some bytes east of the next unit of a lane.
func (k *kernel) here(lane, east int) Mem {
	return Mem{Base: k.data[lane], Disp: east}.Idx(k.apart, 1)
}

// plane is a lane's coefficients.
func (k *kernel) plane(name string, lane int) Mem {
	return Mem{Base: k.planes[name]}.Idx(k.coefficients[lane], 1)
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
