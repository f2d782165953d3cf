package mutants

import (
	"go/ast"
	"go/token"
)

// comparisons are the functions that compare, or compare otherwise.
var comparisons = map[token.Token]string{
	token.LSS: "mutatedLess", token.LEQ: "mutatedAtMost", token.GTR: "mutatedMore", token.GEQ: "mutatedAtLeast",
}

// binary mutates operators: an operand is left out, a comparison is off by one or turned
// round, a sum is a difference.
func (m *Mutation) binary(b *ast.BinaryExpr) {
	switch b.Op {
	case token.LAND:
		m.Wrap(b.X, "(mutated(%d) || (", "))", m.Add(b, "without the first"))
		m.Wrap(b.Y, "(mutated(%d) || (", "))", m.Add(b, "without the second"))
	case token.LOR:
		m.Wrap(b.X, "(!mutated(%d) && (", "))", m.Add(b, "without the first"))
		m.Wrap(b.Y, "(!mutated(%d) && (", "))", m.Add(b, "without the second"))
	case token.EQL, token.NEQ:
		if !isNil(b) {
			m.Wrap(b, "(mutated(%d) != (", "))", m.Add(b, "turned round"))
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		m.two(b, comparisons[b.Op], m.Add(b, "off by one"))
	case token.ADD, token.SUB:
		if m.words {
			name := map[token.Token]string{token.ADD: "mutatedSum", token.SUB: "mutatedDifference"}[b.Op]
			m.two(b, name, m.Add(b, "other sign"))
		}
	case token.OR, token.XOR, token.AND_NOT:
		if m.words {
			m.Operand(b.Y, "mutatedZero", m.Add(b, "without the second"))
		}
	case token.AND:
		if m.words {
			m.Operand(b.Y, "mutatedOnes", m.Add(b, "without the second"))
		}
	}
}

// two makes a call of an operator.
func (m *Mutation) two(b *ast.BinaryExpr, name string, id int) {
	before, after := "", ""
	if m.constant(b.X) && m.constant(b.Y) {
		before, after = "uint64(", ")"
	}
	m.Wrap(b, "%s(%d, "+before, after+")", name, id)
	m.Replace(b.OpPos, len(b.Op.String()), "%s, %s", after, before)
}

// Operand makes a call of an operand, which is a word.
func (m *Mutation) Operand(e ast.Expr, name string, id int) {
	if m.constant(e) {
		m.Wrap(e, "%s(%d, uint64(", "))", name, id)
	} else {
		m.Wrap(e, "%s(%d, ", ")", name, id)
	}
}

// constant reports whether an expression has no type.
func (m *Mutation) constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return m.consts[e.Name]
	case *ast.ParenExpr:
		return m.constant(e.X)
	case *ast.BinaryExpr:
		return m.constant(e.X) && m.constant(e.Y)
	}
	return false
}
