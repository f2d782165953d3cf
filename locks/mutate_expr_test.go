package locks_test

import (
	"fmt"
	"go/ast"
	"go/token"
)

// comparisons are the functions that compare, or compare otherwise.
var comparisons = map[token.Token]string{
	token.LSS: "mutatedLess", token.LEQ: "mutatedAtMost", token.GTR: "mutatedMore", token.GEQ: "mutatedAtLeast",
}

// binary mutates operators: an operand is left out, a comparison is off by one or turned
// round, a sum is a difference.
func (m *mutation) binary(b *ast.BinaryExpr) {
	switch b.Op {
	case token.LAND:
		m.wrap(b.X, "(mutated(%d) || (", "))", m.add(b, "without the first"))
		m.wrap(b.Y, "(mutated(%d) || (", "))", m.add(b, "without the second"))
	case token.LOR:
		m.wrap(b.X, "(!mutated(%d) && (", "))", m.add(b, "without the first"))
		m.wrap(b.Y, "(!mutated(%d) && (", "))", m.add(b, "without the second"))
	case token.EQL, token.NEQ:
		if !isNil(b) {
			m.wrap(b, "(mutated(%d) != (", "))", m.add(b, "turned round"))
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		m.two(b, comparisons[b.Op], m.add(b, "off by one"))
	case token.ADD, token.SUB:
		if m.words {
			name := map[token.Token]string{token.ADD: "mutatedSum", token.SUB: "mutatedDifference"}[b.Op]
			m.two(b, name, m.add(b, "other sign"))
		}
	case token.OR, token.XOR, token.AND_NOT:
		if m.words {
			m.operand(b.Y, "mutatedZero", m.add(b, "without the second"))
		}
	case token.AND:
		if m.words {
			m.operand(b.Y, "mutatedOnes", m.add(b, "without the second"))
		}
	}
}

// two makes a call of an operator.
func (m *mutation) two(b *ast.BinaryExpr, name string, id int) {
	before, after := "", ""
	if m.constant(b.X) && m.constant(b.Y) {
		before, after = "uint64(", ")"
	}
	m.wrap(b, "%s(%d, "+before, after+")", name, id)
	m.replace(b.OpPos, len(b.Op.String()), "%s, %s", after, before)
}

// operand makes a call of an operand.
func (m *mutation) operand(e ast.Expr, name string, id int) {
	if m.constant(e) {
		m.wrap(e, "%s(%d, uint64(", "))", name, id)
	} else {
		m.wrap(e, "%s(%d, ", ")", name, id)
	}
}

// constant reports whether an expression has no type.
func (m *mutation) constant(e ast.Expr) bool {
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

// accesses are the methods of a word whose mistakes are no choice of operands, and what
// these mistakes are.
var accesses = map[string][]string{
	"publish":        {"wakes no rank", "not flushed"},
	"accumulate":     {"wakes no rank", "not flushed"},
	"Store":          {"not flushed"},
	"Swap":           {"not atomic"},
	"CompareAndSwap": {"not atomic"},
	"Add":            {"not atomic", "adds nothing"},
}

// call mutates what a call does.
func (m *mutation) call(c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch name := sel.Sel.Name; name {
	case "broken", "mustTell":
		m.wrap(c, "(!mutated(%d) && (", "))", m.add(c, "false"))
	case "decided":
		id := m.add(c, "nil")
		m.wrap(c.Fun, "mutatedUnless(%d, ", ")", id)
		m.replace(c.Lparen, 2, "")
	case "Masked":
		m.operand(c.Args[0], "mutatedOnes", m.add(c, "without the mask"))
	default:
		what, ok := accesses[name]
		if !ok || len(c.Args) == 0 {
			return
		}
		numbers := ""
		for _, w := range what {
			numbers += fmt.Sprintf("%d, ", m.add(c, w))
		}
		m.replace(sel.Sel.Pos(), len(name), "mutated%s", name)
		m.replace(c.Lparen+1, 0, "%s", numbers)
	}
}
