package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// meaningless are names that say nothing about what a file or a folder is for.
var meaningless = []string{"util", "utils", "common", "helper", "helpers", "misc"}

// selfEvident are methods whose contract is a well-known interface's.
var selfEvident = []string{"Error", "Is", "Unwrap", "String", "Len", "Less", "Swap", "Push", "Pop"}

// checkHouse reports breaches of the house rules that hold for every package.
func (t *tree) checkHouse(p *pkg) (found []violation) {
	found = append(found, t.checkNames(p)...)
	found = append(found, t.checkPackageComment(p)...)
	found = append(found, t.checkDocs(p)...)
	found = append(found, t.checkSleep(p)...)
	return found
}

func (t *tree) checkNames(p *pkg) (found []violation) {
	const text = "the name says nothing: call it by the one idea that is in it"
	if slices.Contains(meaningless, path.Base(p.path)) {
		found = append(found, violation{p.path, "name", text})
	}
	for _, f := range p.files {
		for word := range strings.SplitSeq(strings.TrimSuffix(path.Base(f.path), ".go"), "_") {
			if slices.Contains(meaningless, word) {
				found = append(found, violation{f.path, "name", text})
			}
		}
	}
	return found
}

// checkPackageComment asks for a doc.go that introduces the package. A program of one file, beside its tests,
// may do that there.
func (t *tree) checkPackageComment(p *pkg) []violation {
	if p.name == "" {
		return nil // nothing but tests
	}
	tests := 0
	for _, f := range p.files {
		if f.test {
			tests++
		}
	}
	for _, f := range p.files {
		if p.name == "main" && len(p.files) == tests+1 && !f.test && f.Doc != nil {
			return nil
		}
		if path.Base(f.path) != "doc.go" {
			continue
		}
		if f.Doc == nil {
			return []violation{{f.path, "doc", "no package comment: say the package's job and contract"}}
		}
		return nil
	}
	return []violation{{p.path, "doc", "no doc.go: add one whose package comment says the package's job and contract"}}
}

// checkDocs asks for a comment on every name that other packages can see:
// functions, types, constants and variables, methods of exported types and of
// exported interfaces. A comment above a group is one for all of it, and one
// above a run of lines is one for all of the run.
func (t *tree) checkDocs(p *pkg) (found []violation) {
	if p.name == "main" || slices.Contains(strings.Split(p.path, "/"), "internal") {
		return nil
	}
	report := func(name *ast.Ident) {
		if name.IsExported() {
			found = append(found, violation{t.at(name), "doc", name.Name + " is exported and has no comment"})
		}
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && ofExported(d) && !(d.Recv != nil && slices.Contains(selfEvident, d.Name.Name)) {
					report(d.Name)
				}
			case *ast.GenDecl:
				t.undocumented(d, report)
			}
		}
	}
	return found
}

// ofExported reports whether d is a function, or a method of an exported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	receiver := root(d.Recv.List[0].Type)
	return receiver == nil || receiver.IsExported()
}

// undocumented calls report for every name that d declares without a comment.
func (t *tree) undocumented(d *ast.GenDecl, report func(*ast.Ident)) {
	covers := t.newCover(d.Doc)
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			if !covers(spec, spec.Doc, spec.Comment) {
				for _, name := range spec.Names {
					report(name)
				}
			}
		case *ast.TypeSpec:
			if !covers(spec, spec.Doc, nil) {
				report(spec.Name)
			}
			if in, ok := spec.Type.(*ast.InterfaceType); ok && spec.Name.IsExported() {
				covers := t.newCover(nil)
				for _, method := range in.Methods.List {
					if !covers(method, method.Doc, method.Comment) && len(method.Names) == 1 {
						report(method.Names[0])
					}
				}
			}
		}
	}
}

// newCover returns a function that is called for each member of a group in turn. It reports
// whether the member has a comment: one of its own, above or behind it, or one above its run of
// lines.
func (t *tree) newCover(group *ast.CommentGroup) func(n ast.Node, above, behind *ast.CommentGroup) bool {
	next := 0 // the line that a comment above would go on to cover
	return func(n ast.Node, above, behind *ast.CommentGroup) bool {
		covered := above != nil || t.fset.Position(n.Pos()).Line == next
		if covered {
			next = t.fset.Position(n.End()).Line + 1
		}
		return covered || behind != nil || group != nil
	}
}

// checkSleep reports tests that sleep. A test that waits for time to pass is
// slow where it works and wrong where it does not: wait for the event. In a bubble
// of testing/synctest no test waits: time passes when all goroutines are blocked.
func (t *tree) checkSleep(p *pkg) (found []violation) {
	for _, f := range p.files {
		if !f.test {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if path, name := p.called(n); path == "time" && name == "Sleep" {
				found = append(found, violation{t.at(n), "sleep", "a test sleeps: wait for the event itself"})
			}
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			path, name := p.called(call.Fun)
			return path != "testing/synctest" || name != "Test"
		})
	}
	return found
}
