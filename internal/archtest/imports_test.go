package archtest

import (
	"fmt"
	"strconv"
	"strings"
)

// checkImports reports every import that the table does not allow.
func (t *tree) checkImports(p *pkg) (found []violation) {
	if why, ok := noPackage[p.path]; ok {
		return []violation{{p.path, "import", "this folder holds packages, no Go file: " + why}}
	}
	from := row(p.path)
	if from == nil {
		return []violation{{p.path, "import", "no row in internal/archtest/rules_test.go: add one that says what this package may import"}}
	}
	for _, f := range p.files {
		for _, spec := range f.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // not a program
			}
			if why := refusal(from, importPath, f.test); why != "" {
				found = append(found, violation{t.at(spec), "import", why})
			}
		}
	}
	return found
}

// refusal says why from may not import importPath, or "".
func refusal(from *layer, importPath string, test bool) string {
	for prefix, owner := range owners {
		if strings.HasPrefix(importPath, prefix) && from.path != owner && !strings.HasPrefix(from.path, owner+"/") {
			return fmt.Sprintf("%s imports %s: only %s may", from.path, importPath, owner)
		}
	}
	path, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return ""
	}
	to := row(path)
	switch {
	case inLaboratory(path) && !inLaboratory(from.path):
		return fmt.Sprintf("%s imports %s: the laboratory is a module of its own, and nothing outside it imports it", from.path, path)
	case to == nil:
		return fmt.Sprintf("%s imports %s, which has no row in internal/archtest/rules_test.go", from.path, path)
	case test && !from.allowsTest(to):
		return fmt.Sprintf("a test of %s imports %s, which is not below it: move the test up to what it tests", from.path, path)
	case !test && !from.allows(to):
		return fmt.Sprintf("%s imports %s: its row in internal/archtest/rules_test.go allows %s", from.path, path, orNothing(from.imports))
	}
	return ""
}

func orNothing(imports string) string {
	if imports == "" {
		return "nothing of this module"
	}
	return "only " + imports
}

// A violation is one place where the module breaks a rule.
type violation struct {
	at   string // file:line, or a file or folder
	rule string // a word to find the rule by
	text string // the fault and the remedy
}

func (v violation) String() string { return fmt.Sprintf("%s: [%s] %s", v.at, v.rule, v.text) }

// check reports every violation in the module whose root is the folder root, and which is the folder at in the rules: the
// laboratory is the folder lab.
func check(root, at string) (found []violation, err error) {
	t, err := load(root, at)
	if err != nil {
		return nil, err
	}
	for _, p := range t.packages {
		found = append(found, t.checkImports(p)...)
		found = append(found, t.checkPure(p)...)
		found = append(found, t.checkHouse(p)...)
	}
	return found, nil
}
