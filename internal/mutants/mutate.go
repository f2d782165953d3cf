package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// mutant is a copy of the code with one small mistake.
type mutant struct {
	file string
	name string // file, function and change: it stays the same when lines move
	line int
}

// Mutation changes one file.
type Mutation struct {
	rules  *Rules
	file   string
	text   string
	fset   *token.FileSet
	consts map[string]bool // the package's untyped constants
	all    *[]mutant       // of all files; a number is an index, plus one
	fn     string          // the function at hand
	words  bool            // the file computes with words
	edits  []edit
}

// edit replaces the text from at to end. Of two edits at one place the closing ones
// come first, from the inside to the outside.
type edit struct {
	at, end int
	text    string
	order   int
}

// mutate returns the text of a file in which all its mistakes wait for their number, and
// adds them to all.
func mutate(file string, rules *Rules, consts map[string]bool, all *[]mutant) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m := &Mutation{rules: rules, file: file, text: string(text), fset: token.NewFileSet(), consts: consts, all: all, words: rules.Computes(file)}
	parsed, err := parser.ParseFile(m.fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || rules.Spares(file, f.Name.Name) {
			continue
		}
		m.fn = f.Name.Name
		if f.Recv != nil {
			m.fn = strings.TrimPrefix(m.source(f.Recv.List[0].Type), "*") + "." + m.fn
		}
		ast.Inspect(f.Body, m.visit)
	}
	return m.apply(), nil
}

// constsOf are the names of a package's constants that have no type, and the package's own
// name.
func constsOf(files []string) (names map[string]bool, name string, _ error) {
	names = map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, "", err
		}
		name = parsed.Name.Name
		for _, decl := range parsed.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					if v := s.(*ast.ValueSpec); v.Type == nil {
						for _, n := range v.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	return names, name, nil
}

func (m *Mutation) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *Mutation) source(n ast.Node) string { return m.text[m.offset(n.Pos()):m.offset(n.End())] }

// Add is a new mutant's number. what says what is wrong with the code of n.
func (m *Mutation) Add(n ast.Node, what string) int {
	code := strings.Join(strings.Fields(m.source(n)), " ")
	if len(code) > 70 {
		code = code[:70] + "..."
	}
	name := fmt.Sprintf("%s %s: %s: %s", m.file, m.fn, code, what)
	same := 1
	for _, other := range *m.all {
		if other.name == name || strings.HasPrefix(other.name, name+" #") {
			same++
		}
	}
	if same > 1 {
		name = fmt.Sprintf("%s #%d", name, same)
	}
	*m.all = append(*m.all, mutant{file: m.file, name: name, line: m.fset.Position(n.Pos()).Line})
	return len(*m.all)
}

// Wrap writes something before and after the code of n.
func (m *Mutation) Wrap(n ast.Node, before, after string, args ...any) {
	m.edits = append(m.edits,
		edit{m.offset(n.Pos()), m.offset(n.Pos()), fmt.Sprintf(before, args...), len(m.edits)},
		edit{m.offset(n.End()), m.offset(n.End()), after, -len(m.edits)})
}

// Replace writes something instead of the code from p on, n bytes of it.
func (m *Mutation) Replace(p token.Pos, n int, text string, args ...any) {
	m.edits = append(m.edits, edit{m.offset(p), m.offset(p) + n, fmt.Sprintf(text, args...), len(m.edits)})
}

func (m *Mutation) apply() string {
	slices.SortStableFunc(m.edits, func(a, b edit) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out strings.Builder
	at := 0
	for _, e := range m.edits {
		out.WriteString(m.text[at:e.at] + e.text)
		at = e.end
	}
	return out.String() + m.text[at:]
}

// visit mutates a node, and says whether to go on inside it.
func (m *Mutation) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl: // a constant cannot depend on a variable
		return false
	case ast.Stmt:
		if m.spares(n) {
			return false
		}
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, cond := range c.(*ast.CaseClause).List {
					m.condition(cond)
				}
			}
		}
	case *ast.IfStmt:
		m.condition(n.Cond)
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.CompositeLit:
		if slices.Contains(m.rules.Fields, last(n.Type)) {
			m.fields(n)
		}
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			if name := last(e); m.rules.Returns && (name == "true" || name == "false") {
				m.Wrap(e, "(mutated(%d) != ", ")", m.Add(n, "turned round"))
			}
		}
	case *ast.CallExpr:
		if m.rules.Call != nil {
			m.rules.Call(m, n)
		}
	}
	return true
}

// statements drops them, one at a time.
func (m *Mutation) statements(list []ast.Stmt) {
	for _, s := range list {
		if m.spares(s) {
			continue
		}
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		m.Wrap(s, "if !mutated(%d) { ", " }", m.Add(s, "dropped"))
	}
}

// fields leaves them out, one at a time.
func (m *Mutation) fields(lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			m.Wrap(kv.Value, "mutatedNone(%d, ", ")", m.Add(kv, "left out"))
		}
	}
}

// spares reports whether a statement is no part of a protocol, or only an assert.
func (m *Mutation) spares(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && slices.Contains(m.rules.SparedCalls, last(call.Fun))
	case *ast.IfStmt:
		sel, ok := s.Cond.(*ast.SelectorExpr) // if invariant.Enabled
		return ok && last(sel.X) == "invariant"
	case *ast.AssignStmt:
		return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return slices.Contains(m.rules.SparedNames, last(e)) })
	}
	return false
}

// condition makes it never true, and always. An error is tested for always only: the
// other mistake is too easy to see.
func (m *Mutation) condition(cond ast.Expr) {
	m.Wrap(cond, "!mutated(%d) && (", ")", m.Add(cond, "never"))
	if b, ok := cond.(*ast.BinaryExpr); !ok || !isNil(b) {
		m.Wrap(cond, "mutated(%d) || (", ")", m.Add(cond, "always"))
	}
}

// last is the last name of a selector.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func isNil(b *ast.BinaryExpr) bool { return last(b.X) == "nil" || last(b.Y) == "nil" }

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
